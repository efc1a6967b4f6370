# frozen_string_literal: true

module PumaTuner
  module Host
    # The command that starts the user's server: words, folder, environment.
    Command = Data.define(:words, :directory, :environment) do
      # A command of the user's, as it would run in their shell: with their Ruby
      # and gems, and not those that this program runs with.
      # @param words [Array<String>]
      # @param directory [String] the folder to start it in
      # @return [Command]
      def self.of_words(words, directory: Dir.pwd)
        new(words:, directory:, environment: UserEnvironment.of(directory))
      end

      # Puma on a rackup file: with the app's Gemfile, or with the gems that
      # this program runs with when there is none.
      # @param path [String] of a config.ru
      # @return [Command]
      # @raise [UsageError] when there is no such file
      def self.of_rackup(path)
        unless File.file?(path)
          raise UsageError, "there is no #{path}. Give the path of a config.ru, or a command after `--`."
        end
        directory = File.dirname(File.absolute_path(path))
        rackup = File.basename(path)
        return with_our_gems(path) unless AppGemfile.of(directory, UserEnvironment.gemfile)
        new(words: ["bundle", "exec", "puma", rackup], directory:, environment: UserEnvironment.of(directory))
      end

      # @param path [String] of a config.ru
      # @return [Command] Puma on it with the gems that this program runs with, whatever Gemfile there is
      def self.with_our_gems(path)
        new(words: [Gem.ruby, "-S", "puma", File.basename(path)], directory: File.dirname(File.absolute_path(path)),
          environment: UserEnvironment.of_ours)
      end

      # @return [String] path of the Ruby that it runs on, where it starts with one, or with a program of one
      def ruby
        return Gem.ruby if words.first == Gem.ruby
        UserEnvironment.ruby(environment, directory)&.last || Gem.ruby
      rescue Errno::ENOENT
        Gem.ruby
      end

      # Below it, an app's releases and the link to the newest lie side by side, as Capistrano has them.
      const_set(:RELEASE, %r{/(?:releases/[^/]+|current)\z})

      # @return [String] the last name of the folder's path, or of what the folder is a release of
      def folder_name = File.basename(File.expand_path(directory).sub(self.class::RELEASE, ""))

      # @return [String] to show and to keep, without what may be secret
      def to_s = Masking.words(words).map { |word| (word == Gem.ruby) ? "ruby" : word }.join(" ")
    end
  end
end
