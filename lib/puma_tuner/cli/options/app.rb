# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    module Options
      App = Options.group(:app, :directory, :boot_limit)

      # The options that say which app is started.
      class App
        ABOUT = "a config.ru, or a folder with one, default: this folder's; or, after `--`, a command that starts Puma"
        HINT = "Options of the app's own command go after `--`, with the command."
        RACKUP = "config.ru"

        # What Puma reads its settings from: puma.rb, config/puma/production.rb.
        PUMA_RB = %r{(?:\A|/)(?:puma|config/puma/[^/]+)\.rb\z}

        # Its line of the process that serves the app.
        OF_PROCFILE = /^web:[ \t]*(\S.*)$/

        # What it has a shell do beside starting one command, where it is not quoted; and what stands between.
        OF_SHELL = /[&|;<>]/
        QUOTED = /\\.|'[^']*(?:'|\z)|"(?:\\.|[^"\\])*(?:"|\z)/
        BETWEEN = /(?=\S)(?:#{QUOTED}|[^&|;<>])+(?<=\S)/

        # With which a shell becomes the command, after assignments: no program is called so.
        EXEC = /\A((?:\w+=(?:#{QUOTED}|[^\s'"\\])*\s+)*)exec\s+(?!-)/
        private_constant :PUMA_RB, :OF_PROCFILE, :OF_SHELL, :QUOTED, :BETWEEN, :EXEC

        # @return [Array<String>] of a folder, or of nothing, its config.ru
        def words
          return [directory ? File.join(directory, RACKUP) : RACKUP] if app.to_a.empty?
          return [File.join(app.first, RACKUP)] if app.one? && File.directory?(app.first)
          app
        end

        # @return [Host::Command]
        # @raise [UsageError] when there is none
        def command
          return served if rackup && File.file?(rackup)
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

        def served
          if PUMA_RB.match?(rackup)
            raise UsageError, "#{rackup} configures Puma, and is no app: give the command that reads it after `--`, " \
              "such as `-- bundle exec puma -C #{rackup}`"
          end
          raise UsageError, no_rackup unless rackup.end_with?(".ru")
          folder = File.dirname(File.absolute_path(rackup))
          if directory && !File.identical?(directory, folder)
            raise UsageError, "#{rackup} does not lie in --directory #{directory}, and is served from its own " \
              "folder: leave one of both out, or give a command after `--`, which runs in the folder of --directory"
          end
          tell_unread(folder)
          Host::Command.of_rackup(rackup)
        end

        # Who stands in the app's folder means the configuration that lies there.
        def tell_unread(folder)
          return unless folder.start_with?("#{Dir.pwd}/") && configured?(Dir.pwd) && !configured?(folder)
          Kernel.warn("puma_tuner: #{rackup} is served from its own folder, where Puma finds no configuration; it is " \
            "served with the one of this folder by `-- bundle exec puma #{rackup}`")
        end

        def configured?(folder) = %w[puma.rb puma].any? { |name| File.exist?(File.join(folder, "config", name)) }

        # Rack takes any other file for one of Ruby's, looks for it in $LOAD_PATH, and finds none.
        def no_rackup
          starts = if File.extname(rackup) == ".rb"
            "bundle exec ruby #{Shellwords.escape(rackup)}"
          elsif File.basename(rackup).start_with?("Procfile") && File.readable?(rackup)
            File.read(rackup).scrub[OF_PROCFILE, 1]&.then { |line| of_procfile(line.strip) }
          end
          "#{rackup} is no rackup file, whose name ends in .ru, and Puma serves no other: give the app's folder, its " \
            "config.ru, or the command that starts it after `--`, such as `-- #{starts || "bundle exec puma"}`"
        end

        # A shell takes assignments before a command; a command that is started without one needs `env` for it. All else
        # that is a shell's would be taken by the one in which the suggestion is typed.
        def of_procfile(line)
          unless line.gsub(QUOTED, "").match?(OF_SHELL)
            return "#{"env " if line.match?(/\A\w+=/)}#{Host::Masking.shell(line.sub(EXEC, '\1'))}"
          end
          masked = line.gsub(BETWEEN) do |command|
            # Where it is masked all is escaped, and an escaped sign would make no assignment.
            Host::Masking.shell(command).then { |text| (text == command) ? text : text.gsub("\\=", "=") }
          end
          "sh -c '#{masked.gsub("'") { "'\\''" }}'"
        end

        def nowhere
          named = "there is no #{rackup}" if app.to_a.any?
          "#{named || "no app given, and there is no config.ru in #{File.expand_path(directory || ".")}"}: " \
            "stand in the app's folder, name its config.ru, or give a command after `--`, such as `-- bundle exec puma`"
        end
      end
    end
  end
end
