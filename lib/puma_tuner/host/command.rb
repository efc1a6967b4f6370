# frozen_string_literal: true

module PumaTuner
  module Host
    # What starts the user's server: words, folder, environment.
    Command = Data.define(:words, :directory, :environment) do
      # A command of the user's, as it would run in their shell: without the gems that this program runs with.
      # @param words [Array<String>]
      def self.of_words(words, directory: Dir.pwd)
        new(words:, directory:, environment: user_environment)
      end

      # Puma on a rackup file: with the Gemfile beside it, or with the gems that this program runs with when there is none.
      # @param path [String] of a config.ru
      def self.of_rackup(path)
        raise UserMistake, "there is no #{path}. Give the path of a config.ru, or a command after `--`." unless File.file?(path)
        directory = File.dirname(File.expand_path(path))
        rackup = File.basename(path)
        if File.file?(File.join(directory, "Gemfile"))
          new(words: ["bundle", "exec", "puma", rackup], directory:, environment: user_environment)
        else
          new(words: [Gem.ruby, "-S", "puma", rackup], directory:, environment: ENV.to_h)
        end
      end

      # Bundler's changes taken back, where Bundler runs us.
      def self.user_environment
        defined?(Bundler) ? Bundler.unbundled_env : ENV.to_h
      end
      private_class_method :user_environment

      # @return [String] to show
      def to_s = words.map { |word| (word == Gem.ruby) ? "ruby" : word }.join(" ")
    end
  end
end
