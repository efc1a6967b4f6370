# frozen_string_literal: true

module PumaTuner
  module Host
    # Paths as users write them.
    module UserPath
      # @param told [String] what it was given as, such as "app=~shop/config.ru"
      # @param path [String]
      # @param folder [String] that it is seen from
      # @return [String] an absolute one
      # @raise [UsageError] of "~name", a user who is not there
      def self.expand(told, path, folder = Dir.pwd)
        File.expand_path(path, folder)
      rescue ArgumentError => error
        raise UsageError, "#{told}: #{error.message}; give another path"
      end
    end
  end
end
