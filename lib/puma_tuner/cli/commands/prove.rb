# frozen_string_literal: true

module PumaTuner
  module CLI
    # Two or more variants of an app, or of a block of Ruby, measured against each other.
    class Commands::Prove < Command
      include Proving

      desc "Measure variants of an app against each other, under load, in interleaved rounds", hint: Options::App::HINT
      tells_of_an_app
      argument :app, "#{Options::App::ABOUT}; several config.ru, or several Puma configurations, are variants",
        required: false, many: true
      options :verbose, :path, :requests, :rate, :topologies, :variant, :time, :html, :markdown, :directory,
        :boot_limit, :block, :data, :arrivals, :think, :reuse, :seed, :factor, :variants, :copy, :looks, :precision,
        :noise_rounds, :equivalent, :turns, :warmup_window, :probe_duration, :expect, :allow, :bodies_may_differ,
        :busy_machine, :resume, :false_alarms, connections: Options::Traffic::USUAL_CONNECTIONS,
        duration: {default: "4", about: "how long each trial measures"}, rounds: "12", warmup_limit: "20",
        primary: {usual: "throughput; with --rate p99, or p50 of few requests; iterations of a block"},
        core: {usual: "the last of four or more, else none"},
        output: {usual: "verdict.json in the app's tmp/puma_tuner; finished rounds are saved beside it"}
      renamed warmup: :warmup_window, calibrate: :false_alarms
      example [
        "--topologies 1x5,2x3 --path /articles",
        "config.ru --variant old:gem.json=2.7.2 --variant new:gem.json=2.8.1",
        "config.ru --factor yjit=off,on --primary cpu_per_request --expect \"cpu_per_request better\"",
        "a.ru b.ru --rate 200 --looks 10,20,40",
        "--block encode.rb"
      ]

      def call(output:, html:, markdown:, false_alarms:, resume:, **options)
        output = Results.path(output, "verdict.json", err:, **options)
        Output.check_writable(output, html, markdown)
        Host::ScratchFolder.open do |folder|
          plan = ProofPlan.new(options, folder:, say:)
          next count_false_alarms(plan, false_alarms) if false_alarms
          verdict = prove(plan, name: "prove", output: Results.beside(output, "verdict.json", err:, **options),
            resume:) do |proven|
            keep(proven, output, html:, markdown:)
          end
          raise Exit.new(3) unless verdict.complete
          raise Exit.new(1) unless verdict.as_expected?
          raise Exit.new(3) unless verdict.expectations.any? || verdict.compared?
        end
      rescue MeasurementFailed, UsageError => error
        keep_failure(error, markdown)
        raise
      end

      private

      def keep(verdict, output, html:, markdown:)
        Output.write_file(markdown, Report.render(verdict, format: :markdown)) if markdown
        Output.write(verdict, **telling, path: output, html:)
        err.puts("summary: #{File.expand_path(markdown)}") if markdown
      end

      # Who reads the summary alone, as of a pull request, is told why there is none; what the app printed is not
      # theirs.
      def keep_failure(error, markdown)
        return if markdown.nil? || Output.why_not_writable(markdown)
        Output.write_file(markdown, "### Proof: nothing was measured\n\n#{error.kept.gsub(/^/, "> ")}\n")
      end

      def count_false_alarms(plan, proofs_count)
        calibration = Prove::Calibration.new(plan.setup, proofs_count:)
        result = progress.stage("calibrate", calibration.expected_s) do |stage|
          calibration.call { |what| stage.note(what) }
        end
        out.puts(result.to_s)
      end
    end
  end
end
