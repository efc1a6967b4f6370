# frozen_string_literal: true

module PumaTuner
  module Prove
    # Finds Rubies, for variants that name a version.
    module Rubies
      PLACES = ["%{cache}/ruby-%{version}", "%{home}/.rbenv/versions/%{version}", "%{home}/.rubies/ruby-%{version}",
        "%{home}/.asdf/installs/ruby/%{version}", "%{home}/.local/share/mise/installs/ruby/%{version}",
        "%{home}/.rvm/rubies/ruby-%{version}", "/opt/rubies/ruby-%{version}", "/usr/local/ruby-%{version}"].freeze

      # @param name [String] "3.3.8", the path of a ruby, or of the folder above its bin/
      # @return [String] path of the executable
      # @raise [UsageError]
      def self.find(name)
        candidates = if name.include?("/")
          [name, File.join(name, "bin/ruby")]
        else
          places(name).map { |folder| File.join(folder, "bin/ruby") }
        end
        found = candidates.map { |path| File.expand_path(path) }
          .find { |path| File.file?(path) && File.executable?(path) }
        found or raise UsageError, "ruby=#{name}: there is no such Ruby; " \
          "looked for #{candidates.join(", ")}. Give the path of one."
      end

      def self.places(version)
        values = {version:, home: Dir.home, cache: Host::CacheFolder.path}
        PLACES.map { |place| format(place, values) }
      end
      private_class_method :places
    end
  end
end
