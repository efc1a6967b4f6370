# frozen_string_literal: true

module PumaTuner
  module Prove
    # What a variant may differ in: the keys that can be declared, how they are checked, and which parts of a fingerprint
    # each of them may change. A difference that no factor covers is one that nobody declared.
    module Factors
      # key, or its beginning with a dot: what it is, and the fingerprint's keys that it may change
      KINDS = {
        "topology" => ["workers x threads, such as 2x5", /\Apuma /],
        "workers" => ["Puma workers, 0 for a single process", /\Apuma /],
        "threads" => ["Puma threads, 5 or 1:5", /\Apuma /],
        "puma." => ["any other of Puma's options, such as puma.queue_requests=false", /\Apuma /],
        "affinity" => ["on: each worker is bound to a core of its own", /\Acores\z/],
        "config" => ["a Puma configuration file", /\A(puma |file config)/],
        "env." => ["an environment variable, such as env.RAILS_ENV=production", nil],
        "yjit" => ["on or off", /\A(yjit|env RUBY_YJIT_ENABLE)\z/],
        "rubyopt" => ["flags for Ruby, such as --yjit-call-threshold=5", /\A(ruby flags|yjit|gc settings)\z/],
        "ruby" => ["a version that is installed, or a path", /\A(ruby|ruby flags|yjit|gc settings|gem .*|extension .*)\z/],
        "gem." => ["a gem's version, such as gem.json=2.8.1", nil],
        "gemfile" => ["a Gemfile", /\A(gem |extension |puma version|file gemfile)/],
        "git" => ["a commit, branch or tag of the app's repository", /\A(commit|file |gem |extension |puma )/],
        "app" => ["another config.ru", /\A(file app|gem |extension )/],
        "command" => ["another server: a command with {port} where it is told its port", /\A(?!yjit\z)/],
        "preload" => ["a library for LD_PRELOAD, such as libjemalloc.so.2", /\A(allocator|preloaded|env LD_PRELOAD)\z/],
        "setup" => ["a command that is run once before, in the variant's folder", /\A(file |gem |extension )/],
        "block" => ["a block of the file", /\A(block|gem .*|extension .*)\z/]
      }.freeze

      # Variables that do more than be there.
      CONSEQUENCES = {
        /\ARUBY_YJIT|\ARUBYOPT\z/ => /\A(yjit|ruby flags|gc settings)\z/, /\ARUBY_GC|\ARUBY_THREAD/ => /\Agc settings\z/,
        /\A(WEB_CONCURRENCY|PUMA_.*|((RAILS|PUMA)_)?(MIN|MAX)_THREADS|RACK_ENV|RAILS_ENV)\z/ => /\A(puma |env (RACK|RAILS)_ENV)/,
        /\ALD_PRELOAD\z/ => /\A(allocator|preloaded)\z/, /\ABUNDLE_GEMFILE\z/ => /\A(gem|extension) /
      }.freeze

      module_function

      # @param factors [Hash{String => String}]
      # @raise [UserMistake] for a key that is not understood, or a value that can't be
      def check(factors)
        factors.each do |key, value|
          kind(key) or raise UserMistake, "#{key.inspect} is nothing that a variant can differ in. There is:\n#{help}"
          raise UserMistake, "#{key}= has no value" if value.empty? && !key.start_with?("env.")
        end
        check_value(factors, "yjit", /\A(on|off)\z/, "on or off")
        check_value(factors, "affinity", /\A(on|off)\z/, "on or off")
        check_value(factors, "threads", /\A\d+(:\d+)?\z/, "5 or 1:5")
        check_value(factors, "workers", /\A\d+\z/, "a number")
        factors["topology"]&.then { |text| Topology.parse(text) }
      end

      # @return [Regexp, nil] which of a fingerprint's keys that factor may change
      def covers(key)
        name = key.split(".", 2).last
        case kind(key)
        when "env." then [/\Aenv #{Regexp.escape(name)}\z/, *CONSEQUENCES.filter_map { |variable, keys| keys if variable.match?(name) }].then { |all| Regexp.union(all) }
        # Another Puma has other options.
        when "gem." then /\A(gem #{Regexp.escape(name)}\z|extension #{"|puma " if name == "puma"})/
        else KINDS.fetch(kind(key)).last
        end
      end

      # That a variable is set is no proof that it did something: an app may turn YJIT on by itself, and a library that can't
      # be loaded is left out.
      SHOWN = {"yjit" => /\Ayjit\z/, "preload" => /\Apreloaded\z/}.freeze

      # @return [Regexp] in which of a fingerprint's keys that factor has to be seen
      def shows(key) = SHOWN.fetch(key) { covers(key) }

      # @param factors [Hash{String => String}]
      # @return [Hash{String => String}] versions that they declare, by gem
      def gems(factors) = factors.select { |key, _| key.start_with?("gem.") }.transform_keys { |key| key.delete_prefix("gem.") }

      # @return [String] the keys, one a line
      def help = KINDS.map { |key, (meaning, _)| format("  %-10s %s", key.end_with?(".") ? "#{key}NAME" : key, meaning) }.join("\n")

      # @return [String, nil] the key in KINDS
      def kind(key)
        KINDS.keys.find { |known| known.end_with?(".") ? (key.start_with?(known) && key.size > known.size) : key == known }
      end

      def check_value(factors, key, pattern, meaning)
        return if factors[key].nil? || factors[key].match?(pattern)
        raise UserMistake, "#{key}=#{factors[key]}: write #{meaning}"
      end
    end
  end
end
