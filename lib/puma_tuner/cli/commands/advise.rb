# frozen_string_literal: true

module PumaTuner
  module CLI
    # Says what to change, proves it, writes it.
    class Commands::Advise < Command
      desc "Recommend changes, with their predicted effect, their cost, and how to undo them; prove and write them",
        hint: Options::App::HINT
      argument :observation, "file written by `puma_tuner measure` or `tune`, default: this folder's; with --prove " \
        "also the app: a config.ru, or after `--` its command", required: false
      argument :companions, "recordings of the same app at other settings", required: false, many: true
      options :verbose, :threads, :workers, :what_if, :station, :seed, :slo, :at, :cores, :db_connections, :diff,
        :write, :prove, :forget, :requests, :data, :time, :html, :boot_limit,
        only: {usual: "all that have lines to set and a predicted effect; with --prove all"},
        directory: {about: "folder of the app that is proven, or whose files are changed",
                    usual: "that of the recording"},
        path: {default: nil, usual: "those recorded"}, rounds: "12", warmup: "2", trial_duration: "4",
        output: {usual: "advice.json in the app's tmp/puma_tuner; tuning.json with --prove"},
        memory: {usual: "the container's memory limit, or the machine's memory " \
          "without what the rest of it needs"},
        seeds: Predict::Sweeper::DEFAULT_SEEDS_COUNT.to_s,
        simulated_requests: Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s
      example [
        "tmp/puma_tuner/observation.json --memory 2GiB",
        "tmp/puma_tuner/observation.json --slo \"90% < 300ms\" --at 120/s --db-connections 20",
        "tmp/puma_tuner/observation.json --prove       # each advice against today's setting, under load",
        "tmp/puma_tuner/observation.json --diff        # of config/puma.rb; --write writes it"
      ]

      # What means something beside --prove alone.
      OF_PROOF = %i[path requests data time html].freeze
      private_constant :OF_PROOF

      def call(observation:, companions:, output:, **options)
        ensure_use(options)
        recordings, words = split([observation, *companions], options)
        output = Results.path(output, options[:prove] ? "tuning.json" : "advice.json", err:, recorded: recordings.first)
        ensure_kept(recordings, output)
        Output.check_writable(output, options[:html])
        # Somebody may have changed a recording since it was made.
        advised = Document.fitting(*recordings) do
          advised({observation: recordings.first, companions: recordings.drop(1), **options})
        end
        return prove(*advised, words, recordings.first, output, options) if options[:prove]
        list = advised.last.advice_list
        return Output.write(list, **telling, path: output) unless options[:diff] || options[:write]
        Output.write_files(list, err:, path: output)
        patch(Chosen.of(list, options[:only]), advised.first, recordings.first, output, options)
      end

      private

      def ensure_use(options)
        Chosen.ensure_rules(options[:only].to_a)
        if options[:only] && options.values_at(:prove, :diff, :write).none?
          raise UsageError, "--only chooses what --prove, --diff and --write take: add one of them"
        end
        return if options[:prove]
        flag = given(OF_PROOF, options) or return
        raise UsageError, "#{flag} is for the proof; add --prove"
      end

      # The file that `tune` has written has its proof, too.
      def ensure_kept(recordings, output)
        taken = recordings.find { |path| File.identical?(path, output) } or return
        raise UsageError, "the result would take the place of #{taken}, which it is made of: give another --output"
      end

      # @return [Array(Array<String>, Array<String>)] recordings, and words of the app
      def split(words, options)
        words = words.compact
        return [words.any? ? words : [own_recording([], options)], []] unless options[:prove]
        recordings = words.take_while { |word| recording?(word) }
        app = words.drop(recordings.size)
        [recordings.any? ? recordings : [own_recording(app, options)], app]
      end

      def recording?(word)
        word.end_with?(".json") || (File.file?(word) && File.readable?(word) && File.open(word, &:getc) == "{")
      end

      def own_recording(app, options)
        folder = Results.app_folder(app:, **options.slice(:directory))
        path = File.join(folder, Results::FOLDER, "observation.json")
        return path if File.file?(path)
        words = "#{" --" if app.size > 1} #{Host::Masking.words(app).join(" ")}".rstrip
        raise UsageError, "there is no recording of this app to advise by (#{path}): make one with " \
          "`puma_tuner measure --load --path /…#{words}`"
      end

      # @return [Array(RecordedApp, Tuning)] without a proof
      def advised(options)
        wanted = Options::Goals.from(options)
        forecast = Options::Forecast.from(options)
        app = forecast.app(beware, what_if: wanted.what_if)
        sweeper = forecast.sweeper(app, goals: wanted.slo)
        experience = Advise::Experience.new(known(app, options), today: app.workload.observed_topology,
          arrivals: wanted.arrivals(app.workload.arrivals))
        constraints = wanted.constraints.inside(app.facts, elsewhere: !wanted.cores.nil?)
        sweep, list = Advise.call(app.workload, sweeper, scenarios(app, options, wanted, experience), constraints,
          observation: app.observation) do |scenarios|
          progress.sweep(sweeper, scenarios)
        end
        [app, Tuning.new(command: Host::Masking.own_command, recorded_at: app.observation.started_at,
          observation: app.observation, machine: app.machine, workload: app.workload, sweep:,
          advice_list: experience.apply(list), verdict: nil, unproven: Unknown.of(:proof, :not_begun))]
      end

      # @return [Array<Advise::Measured>]
      def known(app, options)
        record = Advise::ProofRecord.new(say: beware)
        record.forget(app.key) if options[:forget]
        record.of(app.key)
      end

      # Today's among them, also under another load than the recording's.
      def scenarios(app, options, wanted, experience)
        topologies = experience.topologies(Options::Grid.from(options).topologies(app.usual_workers))
        Scenarios.new(app.workload)
          .of(topologies | [app.workload.observed_topology], [wanted.arrivals(app.workload.arrivals)])
      end

      def prove(app, tuning, words, recorded, output, options)
        list = tuning.advice_list
        advice = options[:only] ? Chosen.of(list, options[:only]) : list.advice
        proving = AdviceProving.new(app, words:, options:, progress:, err:,
          folder: app_folder(recorded, options, words))
        proven = proving.call(tuning, advice) { |unfinished| keep(unfinished, output, options) }
        keep(proven, output, options)
        remember(app, proven)
        patch_better(advice, proven, app, recorded, output, options) if options[:diff] || options[:write]
        end_as(proven)
      end

      def patch_better(advice, proven, *rest)
        better = advice.zip(proven.checks).select { |_, check| check.measured&.outcome == :better }.map(&:first)
        return patch(better, *rest) if better.any?
        err.puts("puma_tuner: nothing was shown to be better, so nothing is written")
      end

      def app_folder(recorded, options, words = [])
        return File.expand_path(options[:directory]) if options[:directory]
        Results.app_folder(app: words, recorded:)
      end

      def keep(tuning, output, options) = Output.write(tuning, **telling, path: output, html: options[:html])

      # What others on the machine have disturbed, what ended early, or what had not all of it in force, says nothing of
      # the advice.
      def remember(app, proven)
        return unless proven.verdict
        why = if !proven.verdict.complete then "the proof ended early"
        elsif !proven.verdict.quiet? then "others used the machine during the proof"
        elsif app.observation.load&.disturbed? then "others used the machine while the app was recorded"
        end
        return err.puts("puma_tuner: what came out is not remembered, as #{why}") if why
        endpoint_names = app.as_recorded.first.endpoints.map(&:name)
        Advise::ProofRecord.new(say: beware).add(app.key, proven.checks.filter_map(&:whole), endpoint_names:)
      end

      def end_as(proven)
        raise Exit.new(3) unless proven.verdict.nil? || proven.verdict.complete
        raise Exit.new(1) if proven.checks.any? { |check| check.measured&.otherwise? }
      end

      def patch(advice, app, recorded, output, options)
        folder = app_folder(recorded, options)
        kept = File.dirname(File.expand_path(Results.beside(output, "advice.json", err:, recorded:)))
        Patching.new(advice, observation: app.observation, folder:, kept:, out:, err:)
          .public_send(options[:write] ? :write : :show)
      end
    end
  end
end
