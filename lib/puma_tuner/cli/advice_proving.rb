# frozen_string_literal: true

module PumaTuner
  module CLI
    # Carries out the proof of advice for the command: finds the app and its requests, shows how far it is, keeps what
    # there is, and remembers what came out.
    class AdviceProving
      # Paths whose requests were recorded about equally often can be sent again in equal shares.
      EVEN_RATIO = 0.8

      # An endpoint that is a path by itself.
      PLAIN = %r{\AGET (/[\w./-]*)\z}

      # @param app [RecordedApp]
      # @param words [Array<String>] of the app, as Options::App has them; empty: that of the folder
      # @param options [Hash] of the command
      # @param folder [String] of the app
      # @raise [UsageError] where app or requests are not those of the recording
      def initialize(app, words:, folder:, options:, progress:, err:)
        @app = app
        @folder = folder
        @options = options
        @progress = progress
        @err = err
        @group = Options::App.from({**options, app: words, directory: folder})
        @command = @group.command
        ensure_same_app(given: words.any?)
        Host::Masking.begin(folder)
      end

      # @param tuning [Tuning] with the advice
      # @param advice [Array<Advise::Advice>] of it that is to be proven
      # @yieldparam tuning [Tuning] with what there is, when it is interrupted
      # @return [Tuning] with checks, and a verdict where anything could be measured
      def call(tuning, advice)
        Host::ScratchFolder.open do |folder|
          proof = AdviceProof.new(advice, sweep: tuning.sweep, plan: plan(tuning.sweep, folder))
          announce(proof)
          next tuning.with(checks: proof.checks, unproven: nil) if proof.variants.one?
          begin
            verdict = @progress.stage("prove", nil) { |stage| proof.call { |what, left_s| stage.note(what, left_s) } }
            tuning.with(checks: proof.checks, verdict:, unproven: nil)
          rescue UsageError, MeasurementFailed => error
            yield tuning.with(checks: proof.checks, unproven: Unknown.of(:proof, :failed, detail: error.kept))
            raise
          rescue Interrupt
            verdict = proof.verdict
            yield tuning.with(checks: proof.checks, verdict:,
              unproven: (Unknown.of(:proof, :interrupted) unless verdict))
            raise
          end
        end
      end

      private

      def say(text) = @err.puts("puma_tuner: #{text}")

      def announce(proof)
        names = proof.variants.map(&:name)
        return say("nothing of the advice can be measured by itself") if names.one?
        say("to measure against today's setting: #{names.drop(1).join(", ")}")
        ProofPlan.too_few(Prove::Looks.fixed(@options[:rounds]), proof.variants)&.then { |text| say(text) }
      end

      # What is measured must be what was recorded.
      def ensure_same_app(given:)
        recorded = @app.observation.command
        return if given || @command.to_s == recorded
        raise UsageError, "the recording is of `#{recorded}`, and --prove would start `#{@command}`: name the app's " \
          "config.ru, or give its command after `--`"
      end

      def plan(sweep, folder)
        arrivals = sweep.at(sweep.today).scenario.arrivals
        AdviceProof::Plan.new(command: @command, rackup: @group.rackup&.then { |path| File.absolute_path(path) },
          traffic: traffic(arrivals), times:, folder:, puma_rb: puma_rb, rounds_count: @options[:rounds],
          primary: primary(arrivals), time_limit_s: @options[:time], seed: @options[:seed],
          repeat_with: Host::Masking.own_command, say: ->(text) { say(text) })
      end

      def times
        Tuner.trial_times(warmup_s: @options[:warmup], duration_s: @options[:trial_duration],
          boot_limit_s: @options[:boot_limit])
      end

      def primary(arrivals)
        return "throughput" unless arrivals.open?
        Prove::Metric.of_open_loop(Load::Arrivals.open(arrivals.rate_per_s), @options[:trial_duration])
      end

      # The load that the forecasts are of.
      def traffic(arrivals)
        Options::Traffic.from({**@options, path: @options[:requests] ? nil : paths,
          connections: arrivals.connections_count, rate: (arrivals.rate_per_s if arrivals.open?),
          think: (arrivals.think_ns.fdiv(Units::NS_PER_S) if arrivals.think_ns&.positive?),
          reuse: arrivals.reuse_count&.then { |count| "#{count.round}:#{count.round}" }}).traffic
      end

      # @return [Array<String>] those given, or recorded
      def paths
        return @options[:path] if @options[:path]
        endpoints = @app.observation.endpoints
        found = endpoints.filter_map { |endpoint| endpoint.name[PLAIN, 1] }
        counts = endpoints.map(&:requests_count)
        return found if found.any? && found.size == endpoints.size && counts.min >= EVEN_RATIO * counts.max
        raise UsageError, "--prove sends requests, and the recording keeps no addresses of " \
          "#{Report::Figures.list(endpoints.map(&:name).first(3))}: say with --path or --requests what was sent"
      end

      def puma_rb
        return if Patching.no_config(@app.observation)
        Patching.read(@folder, Patching.config(@app.observation, @folder))
      end
    end
  end
end
