# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner load: requests to a server that is running already, and what came of them. (Not `Load`: that is what the
    # other commands call PumaTuner::Load.)
    class SendLoad < Dry::CLI::Command
      include TrafficOptions

      desc "Send requests to a running server, and tell how it answered"
      argument :url, required: false, desc: "http://127.0.0.1:9292, or unix:///path/of/socket"
      TrafficOptions.declare(self, :path, :requests, :data, :rate, :arrivals, :connections, :think, :reuse, :seed)
      option :duration, default: "10", desc: "seconds"
      option :raw, desc: "file for a line of CSV per answer"
      option :json, desc: "file for all values; - for standard output, instead of text"
      option :core, desc: "number of the core that the generator is bound to"
      option :anywhere, type: :flag, default: false, desc: "send to another machine, too: only to what is yours"
      option :self_test, type: :flag, default: false, desc: "needs no URL: does the generator tell the truth of a server that stands still?"
      example [
        "http://127.0.0.1:9292 --rate 200 --path /articles     # latency at 200 requests/s",
        "http://127.0.0.1:9292 --connections 50                # what can it take?",
        "unix:///tmp/puma.sock --requests requests.txt --data users.csv",
        "--self-test"
      ]

      def call(url: nil, self_test: false, **options)
        return tell_truth if self_test
        raise UserMistake, "no URL given: name a server that is running, such as http://127.0.0.1:9292" unless url
        send_load(url, **options)
      end

      private

      def tell_truth
        result = Progress.new(err).stage("self-test", PumaTuner::Load::SelfTest::DURATION_S) { PumaTuner::Load::SelfTest.new.call }
        out.puts(LoadText.self_test(result))
        raise Ending.new(1) unless result.right?
      end

      def send_load(url, duration:, raw: nil, json: nil, **options)
        Output.check_writable(raw, json)
        duration_s = Parse.seconds("--duration", duration)
        traffic = traffic_of(generator: generator_of(raw:, **options), **options)
        outcome = Progress.new(err).stage("load", duration_s) do
          traffic.generator.run(url_base: url, duration_s:, anywhere: options[:anywhere], **traffic.to_h.except(:generator))
        end
        tell(outcome, LoadText.new(outcome, url:, traffic:), json)
        finish(outcome, duration_s)
      end

      def generator_of(raw: nil, core: nil, **) = PumaTuner::Load::Native.new(raw_path: raw, core: core && core_of(core), stoppable: true)

      def core_of(text)
        raise LoadToolFailed, PumaTuner::Load::Native.why_not if PumaTuner::Load::Native.why_not
        allowed = Probe::Processes.allowed_cores
        number = Parse.count("--core", text, 0..1_023)
        return number if allowed.include?(number)
        raise UserMistake, "--core #{number}: this process may use #{allowed.join(", ")}"
      end

      def tell(outcome, text, json)
        (json == "-") ? out.puts(Document.dump(outcome)) : out.puts(text.to_s)
        return unless json && json != "-"
        Document.write(outcome, json)
        err.puts("values: #{File.expand_path(json)}")
      end

      # Stopped early, the last requests had no chance to be answered.
      def finish(outcome, duration_s)
        exit(130) if !outcome.refused && (outcome.duration_ns < duration_s * Units::NS_PER_S * 0.999 || (outcome.unmet_count && !outcome.settling_ns))
        return unless outcome.complaint
        err.puts("puma_tuner: these figures mean nothing: #{outcome.complaint}")
        raise Ending.new(3)
      end
    end
  end
end
