# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells what runs in this process, read from inside it, so that two processes can be compared: short texts by kind
    # and name, {[:gem, "json"] => "2.7.2"}; the name is nil where a kind has but one, or tells of the whole. It needs
    # no gem. Environment variables that may hold secrets are told apart by a keyed hash only.
    module Fingerprint
      # Names of what is nobody's business: of variables, options, parameters and headers.
      SECRET = /token|secret|passw|pwd|passphrase|api[-_]?key|auth|cookie|credential|session|signature|
        (?:\A|[-_])key(?:\z|[-_])/ix

      # The user, and often the password, of an address.
      USER = %r{(?<=://)[^/\s]+(?=@)}

      # Shown as they are, unless their name or value says otherwise: what
      # changes how Ruby, the allocator or a server works.
      OPEN_VARIABLES =
        /\A(RUBY|MALLOC|LD_PRELOAD|RACK_ENV|RAILS_|WEB_CONCURRENCY|(MIN|MAX)_THREADS|JEMALLOC|MIMALLOC|TZ\z|LANG\z|LC_)/

      # These variables say where programs and gems are looked for, who started us and where a server is to be found, or
      # are our own: none is a property of the app.
      OTHER_VARIABLES =
        /\A(PUMA_TUNER_|BUNDLE|GEM_|LISTEN_|
          (RUBYLIB|RUBYOPT|PATH|HOME|PWD|OLDPWD|SHLVL|_|TMPDIR|PORT|PIDFILE|TERM|COLUMNS|LINES)\z)/x

      # Ours, and Bundler's, whose place differs from install folder to install folder.
      OUR_FLAGS = %r{\s*-r\s*(puma_tuner/|\S*bundler/setup)\S*}

      # What stands for a value that is not shown, see KeyedHash.
      HIDDEN = /\A\(\h+\)\z/

      ALLOCATORS = {"jemalloc" => /jemalloc/, "tcmalloc" => /tcmalloc/, "mimalloc" => /mimalloc/}.freeze

      module_function

      # @return [Hash{Array(Symbol, String) => String}]
      def read
        {
          [:ruby, nil] => "#{RUBY_ENGINE} #{RUBY_ENGINE_VERSION} #{RUBY_PLATFORM}",
          [:ruby, "flags"] => Processes.text(ENV["RUBYOPT"].to_s).gsub(OUR_FLAGS, "").strip,
          [:cores, nil] => cores, [:yjit, nil] => yjit, [:allocator, nil] => allocator, [:preloaded, nil] => preloaded,
          [:gc, "settings"] => gc_settings,
          **variables, **gems, **extensions
        }
      end

      # @return [String] of a key, as people read it and documents have it: "gem json"
      def text(key) = key.compact.join(" ")

      # @return [Array(Symbol, String)] the key of such a text
      def key(text) = text.split(" ", 2).then { |kind, name| [kind.to_s.to_sym, name].freeze }

      # @param fields [Hash{String => String}] by text
      # @raise [KeyError] where they are none
      def from_document(fields)
        raise KeyError, "a fingerprint is no object, but #{fields.class}" unless fields.is_a?(Hash)
        fields.transform_keys { |text| key(text) }.freeze
      end

      # That this process may use, as numbers and spans.
      def cores
        File.foreach("/proc/self/status") { |line| return line.split.last if line.start_with?("Cpus_allowed_list:") }
        "unknown"
      rescue SystemCallError
        "unknown"
      end

      def yjit
        return "not built in" unless defined?(RubyVM::YJIT)
        RubyVM::YJIT.enabled? ? "on" : "off"
      end

      # Finds the allocator by the libraries in this process: it is the one that defines malloc first, which LD_PRELOAD
      # decides, or Ruby's own linking.
      def allocator
        libraries = mapped
        ALLOCATORS.each do |name, pattern|
          library = libraries.find { |one| one.match?(pattern) }
          return "#{name} (#{library})" if library
        end
        "the C library's"
      rescue SystemCallError
        "unknown"
      end

      # Returns the libraries that LD_PRELOAD names and that exist: the loader leaves out those that it can't load.
      def preloaded
        named = Processes.text(ENV["LD_PRELOAD"].to_s).split(/[\s:]+/).map do |path|
          File.basename(File.exist?(path) ? File.realpath(path) : path)
        end
        (named & mapped).join(" ")
      rescue SystemCallError
        "unknown"
      end

      # @return [Array<String>] names of the shared libraries in this process
      def mapped
        Processes.text(File.binread("/proc/self/maps")).lines
          .filter_map { |line| line[%r{/([^/\s]+\.so[^/\s]*)\s*\z}, 1] }.uniq
      end

      def gc_settings
        if GC.respond_to?(:config)
          GC.config.except(:implementation).map { |name, value| "#{name}=#{value}" }.join(" ")
        else
          ""
        end
      end

      def variables
        ENV.reject { |name, _| name.match?(OTHER_VARIABLES) }
          .to_h { |name, value| [[:env, name], name.match?(OPEN_VARIABLES) ? shown(name, value) : hidden(value)] }
      end

      # @return [String] the value, or what tells it apart where it may be a secret: RAILS_ENV, and RAILS_MASTER_KEY
      def shown(name, value) = secret?(name, Processes.text(value)) ? hidden(value) : Processes.text(value)

      def secret?(name, value) = name.match?(SECRET) || value.match?(USER)

      def hidden(value) = "(#{KeyedHash.of(value)})"

      # Gems that come with Ruby and often are newer elsewhere. Under Bundler they are not among the loaded ones when
      # Ruby's own is used, which is just what must not go unseen.
      DEFAULT_GEMS = {"json" => :JSON, "psych" => :Psych, "openssl" => :OpenSSL, "bigdecimal" => :BigDecimal,
                      "stringio" => :StringIO, "zlib" => :Zlib, "date" => :Date, "erb" => :ERB}.freeze

      def gems
        return default_gems unless defined?(::Gem.loaded_specs)
        {**default_gems, **::Gem.loaded_specs.to_h { |name, spec| [[:gem, name], spec.version.to_s] }}
      end

      # A gem that is not loaded must stay so. Some keep their version private.
      def default_gems
        loaded = DEFAULT_GEMS.reject { |_, constant| Object.autoload?(constant) || !Object.const_defined?(constant) }
        versions = loaded.filter_map do |name, constant|
          owner = Object.const_get(constant)
          [[:gem, name], owner.const_get(:VERSION, false).to_s] if owner.const_defined?(:VERSION, false)
        end
        versions.to_h
      end

      # The features of gems are named by the folder they come from, which has the version in its name: install folders
      # differ, and mean nothing. Ruby's own follow from its version.
      OF_GEM = %r{\A.*/(?:extensions/[^/]+/[^/]+|gems)/([^/]+)/(?:lib/|ext/)?(.+)\z}
      OURS = %r{/puma_tuner(_load)?\.so\z}

      def extensions
        $LOADED_FEATURES.map { |path| Processes.text(path) }.grep(/\.so\z/).grep_v(OURS).filter_map { |path|
          of_gem = OF_GEM.match(path)
          [[:extension, of_gem[2]], of_gem[1]] if of_gem
        }.to_h
      end
    end
  end
end
