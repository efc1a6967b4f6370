# frozen_string_literal: true

module PumaTuner
  module Prove
    # The factors that variants may differ in: the keys that can be declared, how they are checked, and which parts of a
    # fingerprint each of them may change. A difference that no factor covers is one that nobody declared.
    module Factors
      # Kinds of a fingerprint's keys: what processes tell of themselves, what
      # Puma has in effect, what files are behind it.
      FACTS = %i[ruby cores yjit allocator preloaded gc env gem extension puma program command block file commit].freeze

      # key, or its beginning with a dot: what it is, and what of a fingerprint
      # it may change: kinds, or one key of a kind
      KINDS = {
        "topology" => ["workers x threads, such as 2x5", [[:puma]]],
        "workers" => ["Puma workers, 0 for a single process", [[:puma]]],
        "threads" => ["Puma threads, 5 or 1:5", [[:puma]]],
        "puma." => ["any other of Puma's options, such as puma.queue_requests=false", [[:puma]]],
        "affinity" => ["on, or core: each worker is bound to a core of its own", [[:cores]]],
        "config" => ["a Puma configuration file", [[:puma], [:file, "config"]]],
        "env." => ["an environment variable, such as env.RAILS_ENV=production", nil],
        "yjit" => ["on or off", [[:yjit], [:env, "RUBY_YJIT_ENABLE"]]],
        "rubyopt" => ["flags for Ruby, such as --yjit-call-threshold=5", [[:ruby, "flags"], [:yjit], [:gc]]],
        "ruby" => ["a version that is installed, or a path", [[:ruby], [:yjit], [:gc], [:gem], [:extension]]],
        "gem." => ["a gem's version, such as gem.json=2.8.1", nil],
        "gemfile" => ["a Gemfile", [[:gem], [:extension], [:puma, "version"], [:file, "gemfile"]]],
        "git" => ["a commit, branch or tag of the app's repository",
          [[:commit], [:file], [:gem], [:extension], [:puma]]],
        "app" => ["another config.ru", [[:file, "app"], [:gem], [:extension]]],
        "command" => ["another server: a command with {port} in place of its port", (FACTS - [:yjit]).zip],
        "preload" => ["a library for LD_PRELOAD, such as libjemalloc.so.2",
          [[:allocator], [:preloaded], [:env, "LD_PRELOAD"]]],
        "setup" => ["a command that is run once before, in the variant's folder", [[:file], [:gem], [:extension]]],
        "block" => ["a block of the file", [[:block], [:gem], [:extension]]]
      }.freeze

      # Variables that do more than be there.
      CONSEQUENCES = {
        /\ARUBY_YJIT|\ARUBYOPT\z/ => [[:yjit], [:ruby, "flags"], [:gc]], /\ARUBY_GC|\ARUBY_THREAD/ => [[:gc]],
        /\A(WEB_CONCURRENCY|PUMA_.*|((RAILS|PUMA)_)?(MIN|MAX)_THREADS|RACK_ENV|RAILS_ENV)\z/ =>
          [[:puma], [:env, "RACK_ENV"], [:env, "RAILS_ENV"]],
        /\ALD_PRELOAD\z/ => [[:allocator], [:preloaded]], /\ABUNDLE_GEMFILE\z/ => [[:gem], [:extension]]
      }.freeze

      module_function

      # @param factors [Hash{String => String}]
      # @raise [UsageError] for a key that is not understood, or a value that can't be
      def check(factors)
        factors.each do |key, value|
          kind(key) or raise UsageError, "#{key.inspect} is not a factor. Known factors:\n#{help}"
          raise UsageError, "#{key}= needs a value" if value.empty? && !key.start_with?("env.")
        end
        check_value(factors, "yjit", /\A(on|off)\z/, "on or off")
        check_value(factors, "affinity", /\A(on|core|off)\z/, "on, core or off")
        check_value(factors, "threads", /\A\d{1,4}(:\d{1,4})?\z/, "5 or 1:5")
        check_value(factors, "workers", /\A\d{1,4}\z/, "a number of at most four digits")
        factors["topology"]&.then { |text| Topology.parse(text) }
      end

      # @return [Array<Array>] what of a fingerprint that factor may change
      def covers(key)
        name = key.split(".", 2).last
        case kind(key)
        when "env." then [[:env, name], *CONSEQUENCES.flat_map { |variable, facts| variable.match?(name) ? facts : [] }]
        # Another Puma has other options.
        when "gem." then [[:gem, name], [:extension], *([[:puma]] if name == "puma")]
        else KINDS.fetch(kind(key)).last
        end
      end

      # That a variable is set is no proof that it did something: an app may turn YJIT on by itself, and a library that
      # can't be loaded is left out.
      SHOWN = {"yjit" => [[:yjit]], "preload" => [[:preloaded]]}.freeze

      # @return [Array<Array>] what of a fingerprint that factor has to be seen in
      def shows(key) = SHOWN.fetch(key) { covers(key) }

      # @param facts [Array<Array>] as above
      # @param key [Array(Symbol, String)] of a fingerprint
      def among?(facts, key) = facts.any? { |fact| (fact.size == 1) ? fact.first == key.first : fact == key }

      # @param texts [Array<String>] of what may differ, such as "gem rack", or "gem" for all of them
      # @return [Array<Array(Symbol, String)>]
      # @raise [UsageError] for what no fingerprint has
      def allowed(texts)
        texts.map { |text| Probe::Fingerprint.key(text) }.each_with_index do |(kind, _), index|
          unless FACTS.include?(kind)
            raise UsageError, "--allow #{texts[index].inspect}: a fingerprint has #{FACTS.join(", ")}, " \
              "and of some a name after it, such as \"gem rack\""
          end
        end
      end

      # @param factors [Hash{String => String}]
      # @return [Hash{String => String}] versions that they declare, by gem
      def gems(factors)
        factors.select { |key, _| key.start_with?("gem.") }.transform_keys { |key| key.delete_prefix("gem.") }
      end

      # @return [String] the keys, one a line
      def help
        KINDS.map { |key, (meaning, _)| format("  %-10s %s", key.end_with?(".") ? "#{key}NAME" : key, meaning) }
          .join("\n")
      end

      # @return [String, nil] the key in KINDS
      def kind(key)
        KINDS.keys.find do |known|
          known.end_with?(".") ? (key.start_with?(known) && key.size > known.size) : key == known
        end
      end

      def check_value(factors, key, pattern, meaning)
        return if factors[key].nil? || factors[key].match?(pattern)
        raise UsageError, "#{key}=#{factors[key]}: write #{meaning}"
      end
    end
  end
end
