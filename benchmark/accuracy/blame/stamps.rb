# frozen_string_literal: true

module Accuracy
  module Blame
    # What an app can know of the GVL by CLOCK_MONOTONIC alone: from when to when each of its threads computed without
    # releasing it, and from when a sleeper should have gone on to when it did. Shares no code with the probe.
    #
    # Holds don't overlap, as long as no time slice ends in one: it is set longer than any of them.
    class Stamps
      # The waits of one request.
      class Waits
        # @return [Array<Array(Integer, Integer)>] due and done
        attr_reader :all

        def initialize
          @all = []
        end

        def sleep_ns(ns)
          due_ns = Stamps.now_ns + ns
          sleep(ns / 1e9)
          @all << [due_ns, Stamps.now_ns]
        end
      end

      def self.now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

      def initialize
        @holds = []
        @waits = []
      end

      # @param name [String] as the probe will call whoever does the block
      # @return [true]
      def hold(name)
        from_ns = Stamps.now_ns
        yield
        @holds << [name, from_ns, Stamps.now_ns]
        true
      end

      # They count once the request has ended, as in the probe.
      #
      # @yieldparam waits [Waits]
      def waits_of_a_request
        waits = Waits.new
        yield waits
        @waits.concat(waits.all)
      end

      # @return [Hash] waited_ns: in all, until the sleeper went on; held: name => of it, while that one computed
      def to_h
        {waited_ns: @waits.sum { |due_ns, done_ns| done_ns - due_ns },
         held: @holds.group_by(&:first).transform_values { |holds| holds.sum { |_, from_ns, to_ns| waited_ns(from_ns, to_ns) } }}
      end

      private

      # @return [Integer] how long the sleeper waited between two instants
      def waited_ns(from_ns, to_ns)
        @waits.sum { |due_ns, done_ns| [[done_ns, to_ns].min - [due_ns, from_ns].max, 0].max }
      end
    end
  end
end
