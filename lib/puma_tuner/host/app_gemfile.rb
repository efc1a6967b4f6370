# frozen_string_literal: true

module PumaTuner
  module Host
    # The Gemfile that an app runs with: what Bundler finds from the app's folder, whichever folder we stand in.
    module AppGemfile
      # In Bundler's order.
      NAMES = %w[gems.rb Gemfile].freeze

      # This project's own, above its labs and demos: they run with the gems that this program runs with.
      OURS = File.expand_path("../../../Gemfile", __dir__)

      # @param directory [String] of the app
      # @param named [String, nil] BUNDLE_GEMFILE, which goes before whatever lies there; from the app's folder
      # @return [String, nil] its path; nil where there is none
      # @raise [UsageError] of "~name" in BUNDLE_GEMFILE, a user who is not there
      def self.of(directory, named = nil)
        given = UserPath.expand("BUNDLE_GEMFILE=#{named}", named, directory) unless named.to_s.empty?
        found = given || search(File.expand_path(directory))
        found unless found == OURS
      end

      # In the folder, or one above it, as that of an engine's dummy or of a repository with several apps is.
      def self.search(folder)
        found = NAMES.map { |name| File.join(folder, name) }.find { |path| File.file?(path) }
        found || (search(File.dirname(folder)) unless folder == File.dirname(folder))
      end
      private_class_method :search
    end
  end
end
