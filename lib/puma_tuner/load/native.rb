# frozen_string_literal: true

require "rbconfig"

module PumaTuner
  module Load
    # Our own generator: one process that does nothing else, its loop in C (ext/puma_tuner_load). Requests leave when
    # they are meant to, latency counts from then, every response is told apart by request and checked.
    class Native < Generator
      DRAIN_S = 10

      # A slow app is waited for at a closed loop's end as long as it goes on answering, but no longer.
      DRAIN_LIMIT_S = 60

      # A closed loop that has not settled by then is measured as it is: as long
      # as the load itself, within these. Think time comes on top.
      SETTLING_LIMITS_S = 10..60

      # A busy machine gets so much more time than the load and its drain take.
      ENDING_LIMIT_S = 30

      # The child's whole program, beside the extension.
      PROGRAM = "#{__dir__}/generator_process.rb".freeze
      CHILD = "PumaTuner::Load::GeneratorProcess.serve($stdin, $stdout)"

      class << self
        # @return [String, nil] why the loop is not there
        def why_not
          return @why_not if defined?(@why_not)
          @why_not = load_extension
        end

        # @return [Integer] that a process of ours may open
        def open_files_max = Process.getrlimit(:NOFILE).last

        private

        # It is there already in whoever was given another build of it.
        def load_extension
          return if Load.const_defined?(:Loop)
          begin
            require_relative "../native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_load"
          rescue LoadError
            require "puma_tuner_load/puma_tuner_load"
          end
          nil
        rescue LoadError => error
          "the load generator's extension is not there (#{error.message.lines.first.strip}). " \
            "It needs CRuby, poll or epoll, and a compiler when the gem is installed: gem pristine puma_tuner builds " \
            "it again"
        end
      end

      # @param raw_path [String, nil] file for a line of CSV per response
      # @param core [Integer, nil] the one it is bound to
      # @param stoppable [Boolean] whether Ctrl-C ends the load early with an outcome, and not with an Interrupt
      # @param drain_s [Numeric] how long responses are waited for after the last request was due
      # @param drain_limit_s [Numeric] how long at a closed loop's end, as long as the app goes on answering
      # @param settling_limit_s [Numeric, nil] see SETTLING_LIMITS_S; nil: by the load's duration
      def initialize(raw_path: nil, core: nil, stoppable: false, drain_s: DRAIN_S,
        drain_limit_s: DRAIN_LIMIT_S, settling_limit_s: nil)
        @raw_path = raw_path && File.expand_path(raw_path)
        @core = core
        @drain_s = drain_s
        @drain_limit_s = drain_limit_s
        @settling_limit_s = settling_limit_s
        @stoppable = stoppable
        @stopped = false
      end

      def why_not = self.class.why_not

      def name = @core ? "puma_tuner #{VERSION} on core #{@core}" : "puma_tuner #{VERSION}"

      def adds_up? = true

      def sets_up? = true

      # @api private
      # @return [Boolean] whether an Interrupt has ended the last load before its time
      def stopped? = @stopped

      private

      def send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:, clients: nil)
        ensure_open_files(connections_count)
        clients ||= send_set_up(mix:, url_base:, connections_count:, seed:) if mix.set_up.any?
        plan = NativePlan.new(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:, clients:).to_h
        settling_limit_s = (@settling_limit_s || duration_s.clamp(SETTLING_LIMITS_S)) +
          arrivals.think_ns.fdiv(Units::NS_PER_S)
        limits = {settling_limit_ns: settling_limit_s, drain_ns: @drain_s, drain_limit_ns: @drain_limit_s}
          .transform_values { |seconds| (seconds * Units::NS_PER_S).round }
        figures = figures({**plan, **limits, raw_path: @raw_path, core: @core},
          settling_limit_s + duration_s + [@drain_s, @drain_limit_s].max + ENDING_LIMIT_S)
        clients&.keep(figures[:clients])
        doubts = NativeDoubts.new(figures, mix:, url_base:, clients:).ensure_no_redirects.ensure_picked
        NativeOutcome.new(figures, name:, connections_count:, duration_s:, arrivals:, remarks: doubts.remarks,
          first_unexpected: doubts.first_unexpected).outcome
      end

      def send_set_up(mix:, url_base:, connections_count:, seed:)
        ensure_open_files(connections_count)
        SetUp.new(mix:, url_base:, connections_count:, seed:).call do |plan, limit_s|
          figures({**plan, settling_limit_ns: 0, drain_ns: 0, drain_limit_ns: 0, raw_path: nil, core: @core},
            limit_s + ENDING_LIMIT_S).tap { raise Interrupt if stopped? }
        end
      end

      # Files are needed beside the connections, too: standard streams, epoll, timer, the raw file, Ruby's own.
      def ensure_open_files(connections_count)
        most = self.class.open_files_max - 32
        return if connections_count <= most
        raise UsageError, "#{connections_count} connections are more than this process may open, which is #{most}; " \
          "ask for fewer, or raise `ulimit -n`"
      end

      # The child's environment is ours without what would load an app's gems or ours into it. It gets the very
      # extension that we have, as without RubyGems it would not find an installed one.
      def figures(plan, limit_s)
        extension = $LOADED_FEATURES.find { |path| path.end_with?("/puma_tuner_load.#{RbConfig::CONFIG["DLEXT"]}") }
        command = [RbConfig.ruby, "--disable-gems", "-r", extension, "-r", PROGRAM, "-e", CHILD]
        interrupted = false
        output, status = Host::Child.output_of([{"RUBYOPT" => nil}, *command], limit_s:, input: Marshal.dump(plan),
          stop_signal: (:INT if @stoppable)) { interrupted = true }
        raise LoadToolFailed, "the load generator did not end within #{limit_s} s and was stopped" unless output
        figures = GeneratorProcess.figures(output)
        return figures.tap { @stopped = figures[:stopped] } if figures
        raise Interrupt if interrupted # it was still booting
        raise LoadToolFailed, "the load generator gave no figures (#{status.to_s.sub(/\Apid \d+ /, "")}). " \
          "It said:\n#{output.lines.first(5).map { |line| "  | #{line}" }.join}"
      end
    end
  end
end
