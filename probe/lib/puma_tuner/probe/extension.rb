# frozen_string_literal: true

require "rbconfig"

module PumaTuner
  module Probe
    # Finds the probe's C extension for the Ruby of this process. The gem and a checkout have it for one Ruby; an app
    # may run on another. For such an app it is compiled once, as its server starts, and kept in the cache.
    module Extension
      # One folder per version, as what is compiled for another may load, and then crash.
      SHIPPED = "puma_tuner/probe/native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_probe"

      SOURCES = File.expand_path("../../../ext/puma_tuner_probe", __dir__)

      # This variable tells a server the cache's folder for these sources.
      FOLDER = "PUMA_TUNER_EXTENSIONS"

      class << self
        # Loads it.
        # @raise [LoadError] when it is not there; its message says why
        def load
          path = shipped || compiled
          return require(path || SHIPPED) if path.nil? || File.exist?(path)
          raise LoadError, why_not_compiled || "it was not compiled"
        end

        # @return [Boolean] whether there is a file of it, which may still not load
        def there? = !shipped.nil? || (!compiled.nil? && File.exist?(compiled))

        # @return [String, nil] the folder of $LOAD_PATH that has it, for a Ruby
        #   that is started without the app's gems; nil: it is in none
        def library_folder = shipped&.delete_suffix("/#{SHIPPED}.#{RbConfig::CONFIG["DLEXT"]}")

        # Compiles it where needed. In a server that a command starts, before
        # the app is there: `bundle` itself may be the first.
        # @return [void]
        def provide
          return if RUBY_ENGINE != "ruby" || shipped || compiled.nil? || File.exist?(compiled) || File.exist?(failure)
          warn "puma_tuner: compiling its extension for Ruby #{RUBY_VERSION}, once"
          log = "#{failure}-#{Process.pid}"
          done = system({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, "--disable-gems",
            File.join(SOURCES, "build.rb"), compiled, :in => File::NULL, %i[out err] => log)
          done ? File.unlink(log) : File.rename(log, failure)
        end

        private

        # @return [String, nil] its path, so that whatever an app makes of `require` finds it
        def shipped = $LOAD_PATH.resolve_feature_path(SHIPPED)&.last

        # Two Rubies of one version may be built differently.
        def compiled
          folder = ENV[FOLDER] or return
          File.join(folder, "#{RUBY_VERSION}-#{KeyedHash.of(RUBY_DESCRIPTION + RbConfig.ruby, key: "0" * 32)}",
            "puma_tuner_probe.#{RbConfig::CONFIG["DLEXT"]}")
        end

        # Returns the path of the file that says why it could not be compiled. It belongs to this run: the next one
        # tries again.
        def failure = File.join(ENV.fetch("PUMA_TUNER_DIRECTORY"), "extension-failure-#{RUBY_VERSION}")

        def why_not_compiled
          said = AtomicFile.read(failure).scrub.lines(chomp: true).reject(&:empty?).last
          "it could not be compiled: #{said}"
        rescue SystemCallError
          nil
        end
      end
    end
  end
end
