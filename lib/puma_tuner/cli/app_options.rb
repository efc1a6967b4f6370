# frozen_string_literal: true

module PumaTuner
  module CLI
    # Which app, and what to send to it: shared by the commands that start one.
    module AppOptions
      def self.included(command)
        command.include(Reading)
        command.class_eval do
          argument :app, type: :array, required: false, desc: "a config.ru; or, after `--`, a command that starts Puma"
          option :directory, desc: "folder in which a command after `--` runs, default: this one"
          TrafficOptions.declare(self, :path, :requests, :data, :connections, :seed)
          option :boot_limit, default: "60", desc: "seconds the app may take to come up"
        end
      end

      # What these options mean.
      module Reading
        include TrafficOptions

        private

        # @return [Host::Command]
        def command_of(app:, directory: nil, **)
          words = Array(app)
          raise UserMistake, "no app given: name a config.ru, or a command after `--`, such as `-- bundle exec puma`" if words.empty?
          return Host::Command.of_rackup(words.first) if words.size == 1 && (words.first.end_with?(".ru") || File.file?(words.first))
          folder = File.expand_path(directory || ".")
          raise UserMistake, "--directory #{directory}: there is no such folder" unless File.directory?(folder)
          Host::Command.of_words(words, directory: folder)
        end

        # @param file [String] with blocks; the Gemfile of its folder counts
        # @return [Host::Command] that ends in a Ruby
        def block_command(file)
          directory = File.dirname(File.expand_path(file))
          return Host::Command.new(words: [Gem.ruby], directory:, environment: ENV.to_h) unless File.file?(File.join(directory, "Gemfile"))
          Host::Command.of_words(["bundle", "exec", "ruby"], directory:)
        end

        def boot_limit_s(boot_limit:, **) = Parse.seconds("--boot-limit", boot_limit)
      end
    end
  end
end
