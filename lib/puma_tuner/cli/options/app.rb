# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      App = Options.group(:app, :directory, :boot_limit)

      # The options that say which app is started.
      class App
        ABOUT = "a config.ru, or a folder with one, default: this folder's; or, after `--`, a command that starts Puma"
        HINT = "Options of the app's own command go after `--`, with the command."
        RACKUP = "config.ru"

        # @return [Array<String>] of a folder, or of nothing, its config.ru
        def words
          return [directory ? File.join(directory, RACKUP) : RACKUP] if app.to_a.empty?
          return [File.join(app.first, RACKUP)] if app.one? && File.directory?(app.first)
          app
        end

        # @return [Host::Command]
        # @raise [UsageError] when there is none
        def command
          return Host::Command.of_rackup(rackup) if rackup && File.file?(rackup)
          raise UsageError, nowhere if rackup
          folder = File.expand_path(directory || ".")
          raise UsageError, "--directory #{directory}: there is no such folder" unless File.directory?(folder)
          Host::Command.of_words(app, directory: folder)
        end

        # @return [String, nil] its path, unless a command starts the app
        def rackup = (words.first if words.one? && App.rackup?(words.first))

        # @return [Boolean] whether Puma is to serve it; what can be run by itself is a command
        def self.rackup?(word) = word.end_with?(".ru") || (File.file?(word) && !File.executable?(word))

        # @param file [String] with blocks; the Gemfile of its folder counts
        # @return [Host::Command] that ends in a Ruby
        def self.block_command(file)
          directory = File.dirname(File.expand_path(file))
          unless File.file?(File.join(directory, "Gemfile"))
            return Host::Command.new(words: [Gem.ruby], directory:, environment: ENV.to_h)
          end
          Host::Command.of_words(["bundle", "exec", "ruby"], directory:)
        end

        private

        def nowhere
          named = "there is no #{rackup}" if app.to_a.any?
          "#{named || "no app given, and there is no config.ru in #{File.expand_path(directory || ".")}"}: " \
            "stand in the app's folder, name its config.ru, or give a command after `--`, such as `-- bundle exec puma`"
        end
      end
    end
  end
end
