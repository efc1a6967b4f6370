# frozen_string_literal: true

module PumaTuner
  module CLI
    # Requests to a server that is running already, and what came of them.
    class Commands::Load < Command
      desc "Send requests to a running server, and report its latency and throughput"
      argument :url, "http://127.0.0.1:9292, or unix:///path/of/socket", required: false
      options :path, :requests, :data, :rate, :arrivals, :think, :reuse, :seed, :core, :raw, :anywhere, :slo,
        :self_test, :output, connections: Options::Traffic::USUAL_CONNECTIONS, duration: "10"
      example [
        "http://127.0.0.1:9292 --rate 200 --path /articles     # latency at 200 requests/s",
        "http://127.0.0.1:9292 --connections 50                # what can it take?",
        "unix:///tmp/puma.sock --requests requests.txt --data users.csv",
        "http://127.0.0.1:9292 --rate 120 --slo \"90% < 300ms\"  # exit code 1 if that is missed",
        "--self-test"
      ]

      def call(url:, self_test:, **options)
        return tell_truth(options[:output]) if self_test
        raise UsageError, "no URL given: name a server that is running, such as http://127.0.0.1:9292" unless url
        send_load(url, **options)
      end

      private

      def tell_truth(output)
        Output.check_writable(output)
        result = progress.stage("self-test", Load::SelfTest::DURATION_S) { Load::SelfTest.new.call }
        Output.write(result, out:, err:, path: output)
        raise Exit.new(1) unless result.right?
      end

      def send_load(url, duration:, raw:, output:, core:, anywhere:, slo:, **options)
        Output.check_writable(raw, output)
        ensure_of_all(slo)
        traffic = Options::Traffic.from(options)
          .traffic(generator: Load::Native.new(raw_path: raw, core: core && allowed(core), stoppable: true))
        outcome = progress.stage("load", duration) do
          traffic.generator.run(url_base: url, duration_s: duration, anywhere:, **traffic.to_h.except(:generator))
        end
        outcome = outcome.held_against(slo)
        Output.write(outcome, out:, err:, path: output)
        finish(outcome, stopped: traffic.generator.stopped?)
        raise Exit.new(1) unless outcome.attainments.all?(&:met?)
      end

      # Routes are the server's.
      def ensure_of_all(goals)
        goal = goals.find(&:endpoint) or return
        raise UsageError, "--slo \"#{goal}\": a load sends requests and does not see which endpoint each is of; " \
          "leave out #{goal.endpoint.inspect}, and send that endpoint's requests alone"
      end

      def allowed(core)
        raise LoadToolFailed, Load::Native.why_not if Load::Native.why_not
        cores = Probe::Processes.allowed_cores
        return core if cores.include?(core)
        raise UsageError, "--core #{core} is not available: this process may use #{cores.join(", ")}"
      end

      # Stopped early, the last requests had no chance to be answered.
      def finish(outcome, stopped:)
        exit(130) if stopped
        return unless outcome.complaint
        err.puts("puma_tuner: these figures mean nothing: #{outcome.complaint}")
        raise Exit.new(3)
      end
    end
  end
end
