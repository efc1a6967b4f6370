# frozen_string_literal: true

module PumaTuner
  module Predict
    # What is to happen, soonest first; of events at the same time the one scheduled first.
    #
    # Two arrays kept in order, latest first, so that the soonest pops off the end. A few dozen events are pending at a
    # time, and moving them is the interpreter's memmove: with 40 pending an event costs 94 ns here and 224 ns in a binary
    # heap, with 1000 pending 154 and 322 (Ruby 3.4.5 with YJIT). Order of insertion needs no serial number either.
    class EventQueue
      # Later than any event.
      NEVER_NS = 1 << 61

      def initialize
        @times_ns = []
        @handlers = []
      end

      # @param time_ns [Integer]
      # @param handler [#call] called at that time
      def schedule(time_ns, handler)
        place = place_for(time_ns)
        @times_ns.insert(place, time_ns)
        @handlers.insert(place, handler)
      end

      # @return [Integer] when the next event is due; NEVER_NS without one
      def due_ns = @times_ns.last || NEVER_NS

      # @return [#call, nil] the next event's handler
      def pop
        @times_ns.pop
        @handlers.pop
      end

      private

      # The first place whose event is due no later: in front of it, because pops come from the end.
      # A loop, as it takes half the time of `bsearch_index` with its block.
      def place_for(time_ns)
        times_ns = @times_ns
        low = 0
        high = times_ns.size
        while low < high
          middle = (low + high) >> 1
          if times_ns[middle] > time_ns
            low = middle + 1
          else
            high = middle
          end
        end
        low
      end
    end
  end
end
