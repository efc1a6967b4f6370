# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner tune: the whole arrow.
    class Tune < Dry::CLI::Command
      include AppOptions
      include RecordingOptions
      include GridOptions
      include ConstraintOptions

      desc "Measure an app, predict other settings, recommend some, and prove it"
      option :today, desc: "topology to start from, such as 1x5, default: what the app's own settings say"
      option :check, desc: "topologies to measure too, such as 1x1,2x5, to see how good the predictions are"
      option :duration, default: "8", desc: "seconds of load for the measurement"
      option :warmup, default: "2", desc: "seconds of load before each measurement, at least; it begins when the app is steady"
      option :rounds, default: "8", desc: "rounds of the proof, 0: no proof; an interval needs 6, one of each of its metrics 8"
      option :time, desc: "how long all of it may take, such as 5m: rounds, then trials, are cut to fit, and what that costs is said"
      option :trial_duration, default: "4", desc: "seconds of load in each trial of the proof"
      option :calibrate, type: :boolean, default: true, desc: "measure the machine beforehand, some 40 seconds, when it has not been: predictions rest on it"
      option :locks, type: :boolean, default: true, desc: "watch locks and pools while it is measured: predictions of lock waits rest on it"
      option :json, desc: "file for all values; - for standard output, instead of text"
      option :html, desc: "file for the HTML report, default: report.html in the app's tmp/puma_tuner"
      example [
        "config.ru --path /articles --threads 1..8 --workers 1..2",
        "--requests requests.txt -- bundle exec rails server"
      ]

      def call(app: [], json: nil, html: nil, **options)
        html = Results.path(html, "report.html", err:, app:, **options)
        Output.check_writable(json, html)
        plan = plan_of(app:, **options)
        kept = []
        tuner = Tuner.new(plan, progress: Progress.new(err), kept: ->(value) { tell_early(kept << value, json:, html:) })
        tuning = tuner.call
        Output.write(tuning, out:, err:, json:, html:)
        insist_on_proof(tuning, tuner.output)
      rescue Interrupt
        save_unfinished(kept || [], json:, html:, path: -> { Results.path(nil, "interrupted.json", err:, app:, **options) })
        exit(130)
      end

      private

      # What is known before minutes of proof begin is shown then: on standard error, as the whole report is still to come.
      def tell_early(kept, json:, html:)
        return unless kept.last.is_a?(Tuning) && kept.one?(Tuning)
        err.puts("", PumaTuner::Report.render(kept.last, format: :text, color: Output.color?(err), early: true), "")
        Output.write_files(kept.last, err:, json:, html:)
      end

      # A proof that was wanted and is not there, or ended early, is a measurement that failed; what there is is told all the same.
      def insist_on_proof(tuning, output)
        verdict = tuning.verdict
        return if verdict ? verdict.complete : tuning.unproven.nil?
        err.puts("puma_tuner: #{verdict ? "the proof ended early: #{verdict.stopped_because}" : "nothing is proven: #{tuning.unproven}"}", *output.map { |line| "  | #{line}" })
        raise Ending.new(3)
      end

      def plan_of(duration:, warmup:, rounds:, trial_duration:, today: nil, check: nil, time: nil, **options)
        Tuner::Plan.new(
          command: command_of(**options), traffic: traffic_of(**options), topologies: topologies_of(GridOptions.workers_here, **options),
          today: today && Topology.parse(today), settings: settings_of(**options), checked_topologies: Parse.topologies(check), constraints: constraints_of(**options),
          warmup_s: Parse.seconds("--warmup", warmup), duration_s: Parse.seconds("--duration", duration),
          rounds_count: Parse.count("--rounds", rounds, 0..200), trial_duration_s: Parse.seconds("--trial-duration", trial_duration),
          boot_limit_s: boot_limit_s(**options), seed: Parse.count("--seed", options[:seed], 0..2**31),
          repeat_with: Host::Masking.own_command, calibrate: options[:calibrate], locks: options[:locks], time_limit_s: time && Parse.time("--time", time),
          track_record: PumaTuner::Predict::TrackRecord.new(say: ->(text) { err.puts("puma_tuner: #{text}") })
        )
      end

      # What was found before Ctrl-C is worth keeping; the later stages can go on from an observation.
      def save_unfinished(kept, json:, html:, path:)
        case found = kept.last
        when Tuning
          err.puts("")
          Output.write_files(found, err:, json: (json unless json == "-"), html:)
        when PumaTuner::Probe::Observation
          path = path.call
          Document.write(found, path)
          err.puts("\npuma_tuner: the observation is kept; go on with: puma_tuner advise #{path}")
        end
      end
    end
  end
end
