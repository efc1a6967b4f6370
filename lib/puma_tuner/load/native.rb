# frozen_string_literal: true

require "json"
require "rbconfig"
require "socket"
require "uri"

module PumaTuner
  module Load
    # Our own generator: one process that does nothing else, its loop in C (ext/puma_tuner_load). Requests leave when they
    # are meant to, latency counts from then, every answer is told apart by request and checked.
    class Native < Generator
      # How long answers are waited for after the last request was due.
      DRAIN_S = 10

      # Beyond what the load and its drain take, for a busy machine.
      ENDING_LIMIT_S = 30

      # The child: reads the plan, runs it, writes what came of it.
      CHILD = 'require "puma_tuner/load/native"; PumaTuner::Load::Native.serve($stdin, $stdout)'

      MODES = {"closed" => 0, "even" => 1, "poisson" => 2}.freeze

      class << self
        # In the child.
        def serve(input, output)
          options = Marshal.load(input.read) # rubocop:disable Security/MarshalLoad -- written by our own parent
          raise LoadError, why_not if why_not
          output.write(JSON.generate(Loop.run(options)))
        end

        # @return [String, nil] why the loop is not there
        def why_not
          return @why_not if defined?(@why_not)
          @why_not = load_extension
        end

        private

        def load_extension
          begin
            require_relative "../native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_load"
          rescue LoadError
            require "puma_tuner_load/puma_tuner_load"
          end
          nil
        rescue LoadError => error
          "the load generator's extension is not there (#{error.message.lines.first.strip}); it needs CRuby on Linux, and a compiler when " \
            "the gem is installed. Another generator can be named: --load-generator wrk"
        end
      end

      # @param raw_path [String, nil] file for a line of CSV per answer
      # @param core [Integer, nil] the one it is bound to
      def initialize(raw_path: nil, core: nil)
        @raw_path = raw_path
        @core = core
      end

      def why_not = self.class.why_not

      def name = "puma_tuner #{VERSION}"

      private

      def send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:)
        plan = plan(mix, url_base, connections_count, duration_s, seed, arrivals)
        figures = figures(plan, duration_s + DRAIN_S + ENDING_LIMIT_S)
        NativeOutcome.new(figures, mix:, name:, connections_count:, duration_s:, arrivals:).outcome
      end

      def plan(mix, url_base, connections_count, duration_s, seed, arrivals)
        host = url_base.start_with?("unix:") ? "localhost" : url_base.delete_prefix("http://")
        {
          requests: mix.requests.map { |request| request_plan(request, host) }, order: mix.order(seed).pack("L*"), address: address(url_base),
          mode: MODES.fetch(arrivals.kind), rate_per_s: (arrivals.rate_per_s || 0).to_f, connections_count:,
          reuse_min: arrivals.reuse&.min || 0, reuse_max: arrivals.reuse&.max || 0,
          duration_ns: ns(duration_s), think_ns: ns(arrivals.think_s), drain_ns: ns(DRAIN_S), seed:, raw_path: @raw_path
        }
      end

      def request_plan(request, host)
        {
          bytes: bytes(request, host), head: request.http_method == "HEAD",
          expected: (request.expected_statuses || Request::USUALLY_EXPECTED).to_a, body_text: request.expected_text
        }
      end

      def bytes(request, host)
        headers = {"Host" => host}.merge(request.headers)
        headers["Content-Length"] = request.body.bytesize if request.body
        lines = ["#{request.http_method} #{request.path} HTTP/1.1", *headers.map { |name, value| "#{name}: #{value}" }, "", ""]
        (lines.join("\r\n").b + request.body.to_s.b).freeze
      end

      def address(url_base)
        return Socket.sockaddr_un(url_base.delete_prefix("unix:").delete_prefix("//")) if url_base.start_with?("unix:")
        url = URI.parse(url_base)
        Socket.sockaddr_in(url.port, url.hostname)
      end

      def ns(seconds) = (seconds * Units::NS_PER_S).round

      # The child's environment is ours without what would load an app's gems or ours into it.
      def figures(plan, limit_s)
        command = [*(["taskset", "-c", @core.to_s] if @core), RbConfig.ruby, "--disable-gems", "-I", File.expand_path("../..", __dir__), "-rpuma_tuner", "-e", CHILD]
        output, status = Child.output_of([{"RUBYOPT" => nil}, *command], limit_s:, input: Marshal.dump(plan))
        raise LoadToolFailed, "the load generator did not end within #{limit_s} s and was stopped" unless output
        JSON.parse(output, symbolize_names: true)
      rescue JSON::ParserError
        raise LoadToolFailed, "the load generator gave no figures (#{status.to_s.sub(/\Apid \d+ /, "")}). It said:\n#{output.lines.last(5).map { |line| "  | #{line}" }.join}"
      end

      register "native", self
    end
  end
end
