# frozen_string_literal: true

module PumaTuner
  module CLI
    # Makes the text of `--help`, of all commands and of one.
    class Help
      WIDTH = 110
      LEFT = 30

      FRONT = <<~TEXT
        puma_tuner shows where a Puma app spends its time, predicts the effect of other worker and thread settings,
        recommends one, and verifies it under load.

          puma_tuner tune                               all of that, for the app in this folder
          puma_tuner tune -- bundle exec puma           all of that, for whatever a command serves
          puma_tuner tune --help                        its options

        The stages, in order, with what each reads and makes:
          measure    a running app         -> observation    puma_tuner measure -- bundle exec puma
          model      observation           -> workload       puma_tuner model tmp/puma_tuner/observation.json
          predict    observation           -> sweep          puma_tuner predict tmp/puma_tuner/observation.json
          advise     observation           -> advice         puma_tuner advise tmp/puma_tuner/observation.json
          prove      variants of an app    -> verdict        puma_tuner prove --topologies 1x5,2x3
          report     any of them           -> text, HTML …   puma_tuner report tmp/puma_tuner/advice.json

        Other tools:
          profile    methods the time goes to, by any profiler   puma_tuner profile --path /articles
          diff       two profiles: what got cheaper              puma_tuner diff before.json after.json
          tradeoff   CPU against memory: YJIT, malloc, GC        puma_tuner tradeoff yjit --requests requests.txt
          lanes      what each thread did when                   puma_tuner lanes tmp/puma_tuner/observation.json
          requests   a file of requests from a server's log      puma_tuner requests --from access.log
          load       requests to a server that runs already      puma_tuner load http://127.0.0.1:9292 --rate 200
          top        a running server, as it is now              puma_tuner top
          calibrate  what this machine costs, measured once      puma_tuner calibrate
          fleet      groups of servers, by Prometheus            puma_tuner fleet --a '{yjit="off"}' --b '{yjit="on"}'
          compare    two logs: before and after a change         puma_tuner compare before.log after.log
          trial      other threads on a server that serves       puma_tuner trial --threads 3 --for 10m
          auto       the same again and again, by forecasts      puma_tuner auto --act observe
          lab        published claims, repeated (in a checkout)  puma_tuner lab list
          completion tab completion for your shell               puma_tuner completion bash
          version    this program's version                     puma_tuner version

        Results go to tmp/puma_tuner in the app's folder, unless you give another place.
        `puma_tuner COMMAND --help` lists a command's options.
        Exit codes: 0 fine, 1 an expectation was not met, 2 usage error, 3 the measurement failed, 70 a bug of ours.
      TEXT

      # @param command [Class] of a Command
      def initialize(command)
        @command = command
      end

      # @return [String]
      def to_s = [head, arguments, *groups, examples].compact.join("\n")

      # @param commands [Hash{String => Class}] that begin with the same word
      # @return [String] what each is for
      def self.of_parts(commands)
        commands.values.map { |command| "#{usage(command)}\n#{new(command).about.gsub(/^/, "  ")}" }.join("\n")
      end

      # @return [String] what the command is for
      def about = "#{wrapped(@command.about, 0)}\n"

      # @return [String] how it is called
      def self.usage(command)
        words = command.arguments.map do |argument|
          argument.required ? argument.name.to_s.upcase : "[#{argument.name.to_s.upcase}#{"…" if argument.many}]"
        end
        ["puma_tuner", Commands.name_of(command), ("[OPTIONS]" if command.declared.any?), *words].compact.join(" ")
      end

      private

      def head = "Usage: #{Help.usage(@command)}\n\n#{about}"

      def arguments
        return if @command.arguments.empty?
        @command.arguments.map { |argument| row(argument.name.to_s.upcase, argument.about) }.join
      end

      def groups
        @command.listed.group_by(&:group).map do |group, options|
          "#{group}:\n#{options.map { |option| row(option.usage, option.told) }.join}"
        end
      end

      def examples
        return if @command.examples.empty?
        "Examples:\n#{@command.examples.map { |line| "  puma_tuner #{Commands.name_of(@command)} #{line}\n" }.join}"
      end

      def row(left, right)
        lines = wrapped(right, LEFT + 2)
        (left.length < LEFT) ? "  #{left.ljust(LEFT)}#{lines}\n" : "  #{left}\n#{" " * (LEFT + 2)}#{lines}\n"
      end

      # @param indent [Integer] of the lines after the first
      def wrapped(text, indent)
        text.gsub(/(.{1,#{WIDTH - indent}})(?: +|\z)/) { "#{$1}\n" }.chomp.gsub("\n", "\n#{" " * indent}")
      end
    end
  end
end
