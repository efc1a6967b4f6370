# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner prove: two or more variants of an app, or of a block of Ruby, measured against each other.
    class Prove < Dry::CLI::Command
      include AppOptions
      include Proving

      desc "Measure variants of an app against each other, under load, in interleaved rounds"
      option :variant, desc: "name:key=value,key=value; give it again for each, the baseline first (docs/prove.md lists the keys)"
      option :factor, desc: "key=value,value; give it again: every combination is a variant"
      option :variants, desc: "Ruby file that declares them"
      option :topologies, desc: "the same for workers x threads, such as 1x5,2x3"
      option :block, desc: "Ruby file with blocks to compare, instead of an app"
      option :primary, desc: "metric that decides, default: throughput; p99 with --rate; iterations of a block"
      option :rounds, default: "12", desc: "how often each is measured; an interval needs 6"
      option :time, desc: "how long all of it may take, such as 5m: rounds, then trials, are cut to fit, and what that costs is said"
      option :looks, desc: "numbers of rounds after which it may be decided, such as 10,20,40, instead of --rounds"
      option :noise_rounds, default: "4", desc: "rounds of the baseline against itself beforehand, 0: none"
      option :equivalent, default: "2", desc: "percent: a difference that matters to nobody"
      TrafficOptions.declare(self, :rate, :arrivals, :think, :reuse)
      option :duration, default: "4", desc: "seconds of load in each trial"
      option :turns, default: "8", desc: "how often the variants take turns at that load; 1: one server up at a time"
      option :core, desc: "number of the core that the generator has to itself; default: the last of four or more, else none"
      option :warmup, default: "0.7", desc: "seconds of each window of warming up; three at least"
      option :warmup_limit, default: "20", desc: "seconds after which a trial begins though it is not steady"
      option :probe_duration, default: "1.2", desc: "seconds of load with the probe after each trial, for the cause, 0: none"
      option :expect, desc: "what must be shown, such as \"throughput >= 1.2\" or \"p99 not worse\"; exit code 1 when it is not"
      option :allow, desc: "what may differ though it is not declared: the beginning of a fingerprint's key, such as \"gem rack\""
      option :bodies_may_differ, type: :flag, default: false, desc: "compare though the answers differ in length"
      option :busy_machine, type: :flag, default: false, desc: "count rounds though others on the machine hit one variant clearly more than the other"
      option :resume, type: :flag, default: false, desc: "go on where an interrupted run with the same options ended"
      option :calibrate, desc: "run so many proofs of the baseline against itself, short, and tell how many called a difference"
      option :output, desc: "file for the verdict, default: verdict.json in the app's tmp/puma_tuner; rounds are kept beside it as they are made"
      option :html, desc: "file for an HTML report"
      option :markdown, desc: "file for a summary, as for a pull request"
      example [
        "config.ru --topologies 1x5,2x3 --path /articles",
        "config.ru --variant old:gem.json=2.7.2 --variant new:gem.json=2.8.1",
        "config.ru --factor yjit=off,on --primary cpu_per_request --expect \"cpu_per_request better\"",
        "a.ru b.ru --rate 200 --looks 10,20,40",
        "--block encode.rb"
      ]

      def call(output: nil, html: nil, markdown: nil, calibrate: nil, **options)
        output = Results.path(output, "verdict.json", err:, **options)
        Output.check_writable(output, html, markdown)
        Host::ScratchFolder.open do |folder|
          plan = ProofPlan.new(options, folder:, say: ->(text) { err.puts("  #{text} …") })
          next calibrated(plan, calibrate) if calibrate
          verdict = prove(plan, name: "prove", output:, resume: options.fetch(:resume)) { |proven| keep(proven, output, html:, markdown:) }
          raise Ending.new(3) unless verdict.complete
          raise Ending.new(1) unless verdict.as_expected?
        end
      end

      private

      def keep(verdict, output, html:, markdown:)
        Output.keep(verdict, output, out:, err:, html:)
        return unless markdown
        Output.write_file(markdown, PumaTuner::Report.render(verdict, format: :markdown))
        err.puts("summary: #{File.expand_path(markdown)}")
      end

      def calibrated(plan, text)
        count = Parse.count("--calibrate", text, 2..1_000)
        calibration = PumaTuner::Prove::Calibration.new(plan, proofs_count: count)
        result = Progress.new(err).stage("calibrate", calibration.expected_s) { |stage| calibration.call { |what| stage.note(what) } }
        out.puts(result.to_s)
      end
    end
  end
end
