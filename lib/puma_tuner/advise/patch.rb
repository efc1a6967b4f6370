# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module Advise
    # Advice as changes to the files of an app. What can't be changed safely is told with the reason.
    class Patch
      # path: within the app's folder; before: nil of a new file
      FileChange = Data.define(:path, :before, :after)

      # For what code in puma.rb computes, and where it is loaded, as the last word.
      INCLUDED = "puma_tuner.rb"
      LOADED = %(instance_eval(File.read("\#{__dir__}/#{INCLUDED}"), "\#{__dir__}/#{INCLUDED}"))

      # Options of Puma's command that go before puma.rb, by the setting.
      OPTIONS = {workers: %w[-w --workers], threads: %w[-t --threads], preload_app!: %w[--preload]}.freeze

      # @return [Array<FileChange>] empty where nothing is left to do
      attr_reader :changes

      # @return [Hash{String => String}] lines of the environment, by their variable
      attr_reader :environment

      # @return [Hash{String => Array<String>}] lines for other places, which a person has to set
      attr_reader :by_hand

      # @return [Array<Statement>] what is not changed, and what to know of the changes
      attr_reader :notes

      # @param advice [Array<Advice>] of two that set the same, the first counts
      # @param observation [Probe::Observation] that it is about
      # @param config [String] path of puma.rb within the app's folder
      # @param no_config [String, nil] option of the server's command by which it reads none
      # @yieldparam path [String] within the app's folder
      # @yieldreturn [String, nil] what is in it; nil where there is none
      def initialize(advice, observation:, config: Rule::PUMA_RB, no_config: nil, &read)
        @observation = observation
        @config = config
        @no_config = no_config
        @read = read
        @changes, @environment, @by_hand, @notes = [], {}, {}, []
        @settled, @left, @variables = {}, [], {}
        change_puma_file(advice.select { |one| one.lines[Rule::PUMA_RB] })
        advice.each { |one| one.lines.except(Rule::PUMA_RB).each { |place, text| change_other(place, text, one.rule) } }
        @variables.each { |name, value| tell_variable(name, value) }
      end

      private

      def note(kind, **facts) = @notes << Statement.of(kind, **facts)

      def change_puma_file(advice)
        return if advice.empty?
        return tell_options(advice) if @no_config
        @source = before = @read.call(@config)
        @source ||= ""
        return note(:not_ruby, path: @config) unless PumaFile.new(@source).ruby?
        advice.each { |one| @source = with(@source, lines(one), one.rule) }
        include_left if @left.any?
        keep(@config, before, @source)
        tell_hooks
      end

      # The command itself has options for some settings.
      def tell_options(advice)
        @source = ""
        wanted = advice.flat_map { |one| PumaFile.new(lines(one)).wanted }
        settings, others = wanted.partition { |one| OPTIONS.key?(one.name) }
        return if wanted.empty?
        note(:no_config, option: @no_config, config: @config, options: settings.map { |one| option(one) },
          lines: others.map(&:text))
      end

      # @return [String] "-t 3:3"
      def option(wanted) = "#{OPTIONS.fetch(wanted.name).first} #{wanted.arguments.map(&:slice).join(":")}".strip

      # Of a cluster that becomes a single process.
      def tell_hooks
        return unless @observation.topology.workers_count > 1 && @settled[:workers]&.last == "workers 0"
        hooks = PumaFile.new(@source).hooks_of_workers
        note(:hooks_of_workers, hooks:, config: @config) if hooks.any?
      end

      def keep(path, before, after)
        @changes << FileChange.new(path:, before:, after:) unless after == before.to_s
      end

      # @return [String] source with these lines
      def with(source, lines, rule)
        edited = PumaFile.new(source).with(lines, "puma_tuner advise: #{rule}")
        @left.concat(edited.left)
        @variables.merge!(edited.variables)
        edited.source
      end

      # @return [String] the lines of an advice but for settings that others have settled
      def lines(advice)
        wanted = PumaFile.new(advice.lines.fetch(Rule::PUMA_RB)).wanted.reject do |one|
          one.name && (settled?(one.name, one.text, advice.rule) || by_command?(one) || in_force?(one))
        end
        wanted.map(&:text).join("\n")
      end

      def settled?(name, line, rule)
        by, text = @settled.fetch(name) do
          @settled[name] = [rule, line]
          return false
        end
        note(:settled, line:, rule:, by:, instead: text) unless text == line
        true
      end

      def by_command?(wanted)
        return false if @no_config
        option = words.find { |word| OPTIONS[wanted.name]&.any? { |flag| given?(flag, word) } } or return false
        note(:by_command, line: wanted.text, option:, config: @config)
        true
      end

      # "-t", "-t5:5", "--threads", "--threads=5:5"
      def given?(flag, word)
        flag.start_with?("--") ? word == flag || word.start_with?("#{flag}=") : word.match?(/\A#{flag}(\d.*)?\z/)
      end

      def words
        @words ||= Shellwords.split(@observation.command.to_s)
      rescue ArgumentError
        @words = []
      end

      # It was recorded so, and no number of the file says otherwise: by Puma's default, say, or under a condition. One
      # worker with a master above it is as much as a single process, and threads that come when they are needed are as
      # many.
      def in_force?(wanted)
        recorded = recorded(wanted.name)
        file = PumaFile.new(@source)
        recorded.include?(wanted.text) && recorded.any? { |line| file.changes_count(line).to_i.zero? }
      end

      # @return [Array<String>] lines that come to what was recorded
      def recorded(setting)
        topology = @observation.topology
        most = topology.threads_count
        case setting
        when :workers then ["workers #{topology.workers_count}", *("workers 0" if topology.workers_count == 1)]
        when :threads then [@observation.min_threads_count, most].map { |least| "threads #{least}, #{most}" }
        else []
        end
      end

      def include_left
        path = File.join(File.dirname(@config), INCLUDED)
        before = @read.call(path)
        source = before || "# Settings that `puma_tuner advise --write` could not set in #{File.basename(@config)}, " \
          "where code\n# computes them. It is loaded last, so these count.\n"
        lines, @left = @left, []
        after = PumaFile.new(source).with(lines.join("\n"), "puma_tuner advise").source
        note(:computed, lines:, config: @config, path:) unless after == before
        comment = "puma_tuner advise: settings that code computes here"
        @source = PumaFile.new(@source).with(LOADED, comment).source
        keep(path, before, after)
      end

      def change_other(place, text, rule)
        case place
        when Rule::ENVIRONMENT then @environment[text[/\A\w+/]] = text
        when Rule::DATABASE_YML then change_pool(place, text) unless settled?(place, text, rule)
        else (@by_hand[place] ||= []) << text
        end
      end

      # Only a number that stands there once for the environment that was recorded: what ERB computes, or several
      # databases have each for themselves, is left.
      def change_pool(path, text)
        before = @read.call(path)
        file = DatabaseYml.new(before.to_s, environment: rails_environment)
        key, value = text.split(": ")
        key = file.key(key)
        found = file.sizes(key)
        return keep(path, before, file.with(key, value)) if found.one? && recorded_size?(found.first)
        line = "#{key}: #{value}"
        note(:pool_by_hand, line:, path:, found:)
        (@by_hand[path] ||= []) << line
      end

      # @return [String, nil] nil where nobody knows
      def rails_environment
        @observation.fingerprint[[:env, "RAILS_ENV"]] || @observation.server&.rack_environment
      end

      # Another number than what was recorded is that of another database, or the database's address has one, too.
      def recorded_size?(text)
        recorded = @observation.locks.to_a.select { |lock| lock.class_name.start_with?("ActiveRecord") }
          .filter_map { |lock| lock.size if lock.kind == "pool" }
        text.match?(/\A\d+\z/) && (recorded.empty? || recorded.include?(text.to_i))
      end

      # A default counts where the variable is not set; where it was recorded with one, that has to be changed as well.
      def tell_variable(name, value)
        recorded = @observation.fingerprint[[:env, name]]
        @environment[name] ||= "#{name}=#{value}" if recorded && recorded != value
        note(:variable_first, name:, recorded:)
      end
    end
  end
end
