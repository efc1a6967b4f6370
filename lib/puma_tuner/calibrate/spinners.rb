# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Processes that do nothing but compute, at our word and all at the same
    # instant. They wait at a pipe meanwhile, and end with it.
    class Spinners
      # It takes so long until all have heard of it.
      LEAD_NS = 20 * Units::NS_PER_MS

      # One step of work, some 20 µs: long beside a look at the clock, short beside a window.
      STEP_TURNS = 1_000

      # The work that one got done in a window. count: steps; cpu_ns: the CPU time they took
      Work = Data.define(:count, :cpu_ns)

      # One process that spins, and the pipes to it.
      Spinner = Data.define(:process, :orders, :replies)

      # @param count [Integer]
      # @yieldparam spinners [Spinners] gone afterwards
      def self.open(count)
        spinners = new
        spinners.start(count)
        yield spinners
      ensure
        spinners&.stop
      end

      # Runs in the child: it writes a line for each window, with its beginning and its end.
      def self.serve(orders, replies)
        replies.sync = true
        replies.puts("ready")
        while (line = orders.gets)
          began_ns, until_ns = line.split.map { |word| Integer(word) }
          replies.puts(work_between(began_ns, until_ns).to_h.values.join(" "))
        end
      end

      def self.work_between(began_ns, until_ns)
        early_ns = began_ns - Clock.now_ns - Units::NS_PER_MS
        sleep(early_ns.fdiv(Units::NS_PER_S)) if early_ns.positive?
        nil while Clock.now_ns < began_ns
        cpu_ns = Clock.cpu_ns
        count = 0
        loop do
          turn = 0
          turn += 1 while turn < STEP_TURNS
          break if Clock.now_ns > until_ns
          count += 1
        end
        Work.new(count:, cpu_ns: Clock.cpu_ns - cpu_ns)
      end
      private_class_method :work_between

      def initialize
        @children = []
      end

      def start(count)
        count.times { start_one }
        @children.each { |child| reply_of(child) }
      end

      # @param count [Integer] of those that compute; the others rest
      # @param window_s [Numeric]
      # @return [Array<Work>] of each
      def work(count, window_s)
        began_ns = Clock.now_ns + LEAD_NS
        order(count, began_ns, began_ns + (window_s * Units::NS_PER_S).round)
        collect(count)
      end

      # @param duration_s [Numeric] longer than the block takes
      # @yield while so many of them compute
      # @return what the block returns
      def while_busy(count, duration_s)
        began_ns = Clock.now_ns
        order(count, began_ns, began_ns + (duration_s * Units::NS_PER_S).round)
        yield.tap { collect(count) }
      end

      def stop
        @children.each do |child|
          [child.orders, child.replies].each(&:close)
          child.process.stop
        end
        @children = []
      end

      private

      def start_one
        theirs, orders = IO.pipe
        replies, their_replies = IO.pipe
        process = Host::Child.new(*FreshRuby.words("PumaTuner::Calibrate::Spinners.serve($stdin, $stdout)"), in: theirs,
          out: their_replies)
        @children << Spinner.new(process:, orders:, replies:)
        process.start
      ensure
        [theirs, their_replies].each { |io| io&.close }
      end

      def order(count, began_ns, until_ns)
        @children.first(count).each { |child| child.orders.puts("#{began_ns} #{until_ns}") }
      end

      def collect(count)
        @children.first(count).map do |child|
          steps_count, cpu_ns = reply_of(child).split.map { |word| Integer(word) }
          Work.new(count: steps_count, cpu_ns:)
        end
      end

      def reply_of(child)
        child.replies.gets or raise InvalidMeasurement,
          "a CPU-bound process ended early. Check that there is enough free memory."
      end
    end
  end
end
