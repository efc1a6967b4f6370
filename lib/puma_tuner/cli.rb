# frozen_string_literal: true

require "dry/cli"

module PumaTuner
  # The command `puma_tuner`. Exit codes: 0 fine, 1 an expectation was not met (prove --expect, load --self-test),
  # 2 it was called wrongly, 3 the measurement failed, 70 our bug, 130 interrupted, 141 nobody reads what it prints.
  module CLI
    autoload :Advise, "puma_tuner/cli/advise"
    autoload :AppOptions, "puma_tuner/cli/app_options"
    autoload :CalibrateMachine, "puma_tuner/cli/calibrate"
    autoload :CapacityText, "puma_tuner/cli/capacity_text"
    autoload :ConstraintOptions, "puma_tuner/cli/constraint_options"
    autoload :Diff, "puma_tuner/cli/diff"
    autoload :Fleet, "puma_tuner/cli/fleet"
    autoload :ForecastOptions, "puma_tuner/cli/forecast_options"
    autoload :GridOptions, "puma_tuner/cli/grid_options"
    autoload :LoadText, "puma_tuner/cli/load_text"
    autoload :Loads, "puma_tuner/cli/loads"
    autoload :Measure, "puma_tuner/cli/measure"
    autoload :Model, "puma_tuner/cli/model"
    autoload :Output, "puma_tuner/cli/output"
    autoload :Parse, "puma_tuner/cli/parse"
    autoload :Predict, "puma_tuner/cli/predict"
    autoload :Profile, "puma_tuner/cli/profile"
    autoload :ProfilePlan, "puma_tuner/cli/profile_plan"
    autoload :ProfilerList, "puma_tuner/cli/profiler_list"
    autoload :Progress, "puma_tuner/cli/progress"
    autoload :ProofPlan, "puma_tuner/cli/proof_plan"
    autoload :Prove, "puma_tuner/cli/prove"
    autoload :Proving, "puma_tuner/cli/proving"
    autoload :RecordedApp, "puma_tuner/cli/recorded_app"
    autoload :RecordingOptions, "puma_tuner/cli/recording_options"
    autoload :Repetition, "puma_tuner/cli/repetition"
    autoload :Report, "puma_tuner/cli/report"
    autoload :Results, "puma_tuner/cli/results"
    autoload :Requests, "puma_tuner/cli/requests"
    autoload :Scenarios, "puma_tuner/cli/scenarios"
    autoload :SendLoad, "puma_tuner/cli/load"
    autoload :TradeOff, "puma_tuner/cli/trade_off"
    autoload :TrafficOptions, "puma_tuner/cli/traffic_options"
    autoload :TryGc, "puma_tuner/cli/trade_off"
    autoload :TryMalloc, "puma_tuner/cli/trade_off"
    autoload :TryYjit, "puma_tuner/cli/trade_off"
    autoload :Tune, "puma_tuner/cli/tune"

    HELP = <<~TEXT
      puma_tuner: where a Puma app's time goes, what to change, what it will bring, and the proof

        puma_tuner tune config.ru                     all of it, on the app of a rackup file
        puma_tuner tune -- bundle exec puma           all of it, on whatever a command serves
        puma_tuner tune --help                        its options

      The stages, in order, with what each reads and makes:
        measure    a running app         -> observation    puma_tuner measure -- bundle exec puma
        model      observation           -> workload       puma_tuner model tmp/puma_tuner/observation.json
        predict    observation           -> sweep          puma_tuner predict tmp/puma_tuner/observation.json
        advise     observation           -> advice         puma_tuner advise tmp/puma_tuner/observation.json
        prove      variants of an app    -> verdict        puma_tuner prove config.ru --topologies 1x5,2x3
        report     any of them           -> text, HTML …   puma_tuner report tmp/puma_tuner/advice.json

      Beside them:
        profile    which methods it goes to, by any profiler   puma_tuner profile config.ru --path /articles
        diff       two profiles: what got cheaper              puma_tuner diff before.json after.json
        yjit       CPU against memory; so do malloc, gc        puma_tuner yjit config.ru --requests requests.txt
        requests   a file of requests from a server's log      puma_tuner requests --from access.log
        load       requests to a server that runs already      puma_tuner load http://127.0.0.1:9292 --rate 200
        calibrate  what this machine costs, measured once      puma_tuner calibrate
        fleet      groups of servers, by Prometheus            puma_tuner fleet --a '{yjit="off"}' --b '{yjit="on"}'
        lab        published claims, measured here (checkout)  puma_tuner lab list

      What a command makes goes into tmp/puma_tuner below the app's folder, unless you name another place.
      puma_tuner COMMAND --help tells each one's options; puma_tuner version, the version.
    TEXT

    LABS = PumaTuner.const_defined?(:Lab, false)
    NO_LABS = "labs come with the project's repository, not with the gem: in a checkout, `bin/exec puma_tuner lab list` names them (docs/labs.md)"

    # Ends a command that did its work with another code than 0.
    class Ending < SystemExit; end

    # The CLI library, but for what it says of words that it does not understand: it repeats all of them, and they may hold secrets.
    class Library < Dry::CLI
      private

      def error(result)
        err.puts(result.error.sub(/called with arguments .*$/) { "called as `#{Host::Masking.own_command}`, and can't take it" })
        exit(1)
      end
    end

    # Prints the version.
    class Version < Dry::CLI::Command
      desc "Print the version"

      def call(**) = out.puts("puma_tuner #{VERSION}")
    end

    module Commands
      extend Dry::CLI::Registry

      register "measure", CLI::Measure
      register "model", CLI::Model
      register "predict", CLI::Predict
      register "advise", CLI::Advise
      register "prove", CLI::Prove
      register "report", CLI::Report
      register "load", CLI::SendLoad
      register "calibrate", CLI::CalibrateMachine
      register "profile", CLI::Profile
      register "diff", CLI::Diff
      register "requests", CLI::Requests
      register "yjit", CLI::TryYjit
      register "malloc", CLI::TryMalloc
      register "gc", CLI::TryGc
      register "fleet", CLI::Fleet
      register "tune", CLI::Tune
      if LABS
        register "lab" do |lab|
          lab.register "list", Lab::CommandLine::List
          lab.register "setup", Lab::CommandLine::SetUp
          lab.register "run", Lab::CommandLine::RunOne
        end
      end
      register "version", Version, aliases: ["--version", "-v"]

      # What they make tells of environments and commands.
      ["measure", "prove", "profile", "yjit", "malloc", "gc", "tune", *("lab run" if LABS)].each do |name|
        before(name) { |**options| Host::Masking.begin(Results.app_folder(**options)) }
      end
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit code
    def self.call(arguments, out: $stdout, err: $stderr)
      if arguments.empty? || %w[--help -h help].include?(arguments.first)
        out.puts(HELP)
        return 0
      end
      # SIGTERM ends us as Ctrl-C does: with everything we started stopped. Raised like this, and not by Ruby itself, an
      # interruption can be put off (Thread.handle_interrupt) where it would lose a process that is just being started.
      %w[INT TERM].each { |signal| trap(signal) { Thread.main.raise(Interrupt) } }
      run(arguments, out, err)
    ensure
      Results.remove_empty
    end

    def self.run(arguments, out, err)
      raise UserMistake, NO_LABS if arguments.first == "lab" && !LABS
      # The simulator runs three times as fast with it.
      RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
      Library.new(Commands).call(arguments: with_repetitions(with_percentile_goals(with_json_place(arguments))), out:, err:)
      0
    rescue Ending => ending
      ending.status
    rescue SystemExit => exit
      err.puts("\npuma_tuner: interrupted; everything it started is stopped") if exit.status == 130
      # The CLI library's code for words it can't parse is 1, which is ours for bugs.
      return exit.status unless exit.status == 1
      err.puts("`puma_tuner #{"#{arguments.first} " if Commands.get(arguments).found?}--help` tells what is understood.")
      2
    rescue UserMistake => mistake
      err.puts("puma_tuner: #{mistake.message}")
      mistake.is_a?(MeasurementFailed) ? 3 : 2
    rescue => error
      err.puts("puma_tuner: this is our bug, please report it: #{error.message} (#{error.class})", error.backtrace)
      70
    end
    private_class_method :run

    # Options that may be given again; the CLI library would take the last. They arrive joined by line ends.
    REPEATED = %w[--variant --factor --expect --allow --what-if --station --max-p].freeze

    def self.with_repetitions(arguments)
      ours, users = arguments.partition.with_index { |_, index| index < (arguments.index("--") || arguments.size) }
      values = REPEATED.to_h { |name| [name, []] }
      others = []
      while (word = ours.shift)
        name, value = word.split("=", 2)
        values.key?(name) ? values[name] << (value || ours.shift.to_s) : others << word
      end
      others + values.flat_map { |name, texts| texts.empty? ? [] : ["#{name}=#{texts.join("\n")}"] } + users
    end
    private_class_method :with_repetitions

    # `predict --max-p95 200`, of whichever percentile, arrives as `--max-p 95=200`: the CLI library knows no options by a pattern.
    def self.with_percentile_goals(arguments)
      return arguments unless arguments.first == "predict"
      words = arguments.dup
      goals = []
      while (word = words.shift)
        number, value = word.match(/\A--max-p(\d[\d.]*)(?:=(.*))?\z/)&.captures
        goals.concat(number ? ["--max-p", "#{number}=#{value || words.shift}"] : [word])
      end
      goals
    end
    private_class_method :with_percentile_goals

    # `--json` without a file means standard output; the CLI library knows no options with a value that may be left out.
    def self.with_json_place(arguments)
      arguments.each_cons(2).flat_map { |word, following|
        (word == "--json" && following.start_with?("-") && following != "-") ? ["--json", "-"] : [word]
      } + ((arguments.last == "--json") ? ["--json", "-"] : arguments.last(1))
    end
    private_class_method :with_json_place
  end
end
