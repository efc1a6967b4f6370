# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    # The whole arrow.
    class Commands::Tune < Command
      desc "Measure an app, predict other settings, recommend one, and verify it under load", hint: Options::App::HINT
      tells_of_an_app
      argument :app, Options::App::ABOUT, required: false, many: true
      options :verbose, :path, :requests, :threads, :workers, :time, :directory, :boot_limit, :today, :data, :seed,
        :settings, :check, :slo, :at, :db_connections, :forget, :allow, :output,
        connections: Options::Traffic::CONNECTIONS_CLOSED.to_s,
        duration: {default: "8", about: "how long the app is measured before the proof"}, warmup: "2",
        rounds: {usual: "8, or one more than it takes to show anything of so many settings",
                 about: "rounds of the proof, 0: no proof; an interval needs 6, of two settings beside today's 7, " \
                   "one of each of its metrics 8", limits: 0..200}, trial_duration: "4", calibrate: true,
        locks: true, cores: {usual: "this machine's; with another number nothing is proven"},
        memory: {usual: "the container's memory limit, or the machine's memory " \
          "without what the rest of it needs"},
        simulated_requests: {default: Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s,
                             about: "requests in each simulation; with --time perhaps fewer, which is told"},
        html: {usual: "report.html in the app's tmp/puma_tuner"}
      example [
        "                                        # the app of this folder, by its config.ru and config/puma.rb",
        "--path /articles --threads 1..8 --workers 1..2",
        "--slo \"90% < 300ms\" --at 120/s --memory 2GiB",
        "--requests requests.txt -- bundle exec rails server"
      ]

      # What advice depends on beside the recording.
      OF_ADVICE = %i[threads workers slo at memory cores db_connections simulated_requests seed].freeze
      private_constant :OF_ADVICE

      def call(output:, html:, **options)
        plan = plan_of(**options)
        recording = recording_path(html, options)
        html ||= File.join(File.dirname(recording), "report.html")
        Output.check_writable(output, html, recording)
        tell_too_few(*options.values_at(:rounds, :check, :today))
        kept = []
        tuner = Tuner.new(plan, progress:, kept: ->(value) { tell_early(kept << value, output, html, recording) })
        tuning = tuner.call
        Output.write(tuning, **telling, path: output, html:)
        tell_next(tuning, recording, options)
        ensure_proof(tuning, tuner.output)
        raise Exit.new(1) unless tuning.verdict.nil? || tuning.verdict.as_expected?
      rescue Interrupt
        save_unfinished(kept || [], output, html, path: -> { Results.path(nil, "interrupted.json", err:, **options) })
        exit(130)
      rescue
        save_recording(kept&.last, path: -> { Results.path(nil, "failed.json", err:, **options) })
        raise
      end

      private

      # Before minutes of measuring. What the model proposes besides is left out where it would be too many.
      def tell_too_few(rounds, check, today)
        others_count = 1 + (check.to_a.uniq - [today]).size
        least_count = Prove::Looks.fixed(1).least_rounds_count(others_count)
        return if rounds.nil? || rounds.zero? || rounds >= least_count
        checked = " (a recommended one and what --check names)" if others_count > 1
        err.puts("puma_tuner: #{Units.counted(rounds, "round can't", "rounds can't")} show anything of " \
          "#{Units.counted(others_count, "setting")} beside today's#{checked}: it takes #{least_count} or more")
      end

      # @return [String, nil] beside the report, unless that has a place of its own; nil where there is no other
      def recording_path(html, options)
        Results.path(nil, "observation.json", err:, **options)
      rescue UsageError
        raise unless html
      end

      # Shows what is known before minutes of proof begin: on standard error, as the whole report is still to come. What
      # was recorded is kept as that of `measure` is, so that `advise` and `predict` go on from it.
      def tell_early(kept, output, html, recording)
        return unless kept.last.is_a?(Tuning) && kept.one?(Tuning)
        err.puts("", Report.render(kept.last, format: :text, **Output.style(err)), "")
        Output.write_files(kept.last.observation, err:, path: recording)
        Output.write_files(kept.last, err:, path: output, html:)
      end

      def tell_next(tuning, recording, options)
        list = tuning.advice_list
        return tell_lines(list.recommendation) if Report::Contents.of(tuning).by_proof
        return if recording.nil? || refuted?(tuning)
        return if Chosen.of(list, nil).all? { |advice| advice.topology == list.today }
        flags = OF_ADVICE.filter_map { |name| given([name], options) }
        err.puts("puma_tuner: `puma_tuner advise #{Shellwords.escape(recording)} --diff` shows the advice as changes " \
          "to the app's files, and --write writes them#{"; give the same #{flags.join(", ")} there" if flags.any?}")
      end

      # `advise` goes by the recording, and would write what forecasts recommend.
      def tell_lines(advice)
        err.puts("puma_tuner: to set for #{advice.topology}, which the proof showed to be better:")
        advice.lines.each do |place, text|
          err.puts("  #{place}:", *text.lines(chomp: true).map { |line| "    #{line}" })
        end
      end

      # @return [Boolean] whether what is recommended made the app worse, or did not serve
      def refuted?(tuning)
        verdict = tuning.verdict or return tuning.unproven&.cause == :failed
        !verdict.failing("recommended").nil? || verdict.comparison("recommended", verdict.primary)&.outcome == :worse
      end

      # A proof that was wanted and is not there, or ended early, is a measurement that failed; what there is is told
      # all the same. With --cores nobody wants one of this machine.
      def ensure_proof(tuning, output)
        verdict = tuning.verdict
        return if verdict ? verdict.complete : tuning.unproven.nil? || tuning.unproven.cause == :other_machine
        why = verdict ? Report::Statements.words(verdict.stopped_because) : Report::Unknowns.reason(tuning.unproven)
        err.puts("puma_tuner: #{verdict ? "the proof ended early" : "nothing is proven"}: #{why}",
          *output.map { |line| "  | #{line}" })
        raise Exit.new(3)
      end

      def plan_of(duration:, warmup:, rounds:, trial_duration:, today:, check:, time:, boot_limit:, seed:, calibrate:,
        locks:, forget:, allow:, simulated_requests:, **options)
        wanted = Options::Goals.from(options)
        Tuner::Plan.new(
          command: Options::App.from(options).command, traffic: Options::Traffic.from({seed:, **options}).traffic,
          topologies: Options::Grid.from(options).topologies(Options::Grid.workers_here(wanted.cores)),
          today:, settings: options[:settings], checked_topologies: check.to_a,
          constraints: wanted.constraints, arrivals: (wanted.arrivals(nil) if wanted.at),
          warmup_s: warmup, duration_s: duration, rounds_count: rounds, trial_duration_s: trial_duration,
          boot_limit_s: boot_limit, seed:, forget:, what_if: Predict::WhatIf.parse(wanted.what_if),
          allowed: Prove::Factors.allowed(allow.to_a), simulated_requests:,
          repeat_with: Host::Masking.own_command, calibrate:, locks:, time_limit_s: time,
          track_record: Predict::TrackRecord.new(say: beware), proof_record: Advise::ProofRecord.new(say: beware)
        )
      end

      # It took its time to record, and a misspelt goal may be all that was wrong. Of a Tuning there are files already.
      def save_recording(found, path:)
        return unless found.is_a?(Probe::Observation)
        path = path.call
        Document.write(found, path)
        err.puts("puma_tuner: what was recorded is saved; `puma_tuner advise #{Shellwords.escape(path)}` goes on " \
          "from it, and `puma_tuner report #{Shellwords.escape(path)}` shows it")
      rescue UsageError => error
        err.puts("puma_tuner: what was recorded can't be saved: #{error.message}")
      end

      # The results from before Ctrl-C are worth keeping; the later stages can go on from an observation.
      def save_unfinished(kept, output, html, path:)
        case found = kept.last
        when Tuning
          err.puts("")
          Output.write_files(found, err:, path: output, html:)
        when Probe::Observation
          path = path.call
          Document.write(found, path)
          err.puts("\npuma_tuner: the observation is saved; continue with: " \
            "puma_tuner advise #{Shellwords.escape(path)}")
        end
      end
    end
  end
end
