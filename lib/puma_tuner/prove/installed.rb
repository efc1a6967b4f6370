# frozen_string_literal: true

module PumaTuner
  module Prove
    # Finds on this machine what variants name: a version of Ruby, or a library that is loaded before all others.
    module Installed
      RUBIES = ["%{cache}/ruby-%{version}", "%{home}/.rbenv/versions/%{version}", "%{home}/.rubies/ruby-%{version}",
        "%{home}/.asdf/installs/ruby/%{version}", "%{home}/.local/share/mise/installs/ruby/%{version}",
        "%{home}/.rvm/rubies/ruby-%{version}", "/opt/rubies/ruby-%{version}", "/usr/local/ruby-%{version}"].freeze
      LIBRARIES = ["/usr/lib/*-linux-*", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib"].freeze
      private_constant :RUBIES, :LIBRARIES

      class << self
        # @param name [String] "3.3.8", the path of a ruby, or of the folder above its bin/
        # @return [String] path of the executable
        # @raise [UsageError]
        def ruby(name)
          candidates = name.include?("/") ? [name, File.join(name, "bin/ruby")] : rubies(name)
          found = candidates.map { |path| Host::UserPath.expand("ruby=#{name}", path) }
            .find { |path| File.file?(path) && File.executable?(path) }
          found or raise UsageError, "ruby=#{name}: there is no such Ruby; " \
            "looked for #{candidates.join(", ")}. Give the path of one."
        end

        # The loader only warns when it is not there, and the server runs without it.
        #
        # @param name [String] "libjemalloc.so.2", or a path
        # @return [String] its path
        # @raise [UsageError]
        def library(name)
          folders = LIBRARIES unless name.include?("/")
          candidates = folders&.flat_map { |one| Dir[File.join(one, name)] } ||
            [Host::UserPath.expand("preload=#{name}", name)]
          candidates.find { |path| File.file?(path) } or
            raise UsageError, "preload=#{name}: there is no such library. " \
              "On Debian: sudo apt-get install libjemalloc2 (libjemalloc.so.2), " \
              "libtcmalloc-minimal4, libmimalloc2.0; or give a path."
        end

        private

        def rubies(version)
          values = {version:, home: Dir.home, cache: Host::CacheFolder.path}
          RUBIES.map { |place| File.join(format(place, values), "bin/ruby") }
        end
      end
    end
  end
end
