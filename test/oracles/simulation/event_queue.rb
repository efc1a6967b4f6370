# frozen_string_literal: true

module SimulationTwin
  # What is to happen, soonest first; of events at the same time the one scheduled first.
  #
  # Kept in order, latest first, so that the soonest pops off the end: the insertion is the interpreter's memmove, which beats a
  # heap written in Ruby while a few dozen events are pending.
  class EventQueue
    # Later than any event.
    NEVER_NS = (1 << 63) - 1

    # kind: see Simulation::KINDS; receiver and argument: who is told, and what else
    Event = Struct.new(:at_ns, :kind, :receiver, :argument)

    def initialize
      @events = []
    end

    def add(at_ns, kind, receiver, argument)
      # In front of all that are due no later.
      place = @events.bsearch_index { |event| event.at_ns <= at_ns } || @events.size
      @events.insert(place, Event.new(at_ns, kind, receiver, argument))
    end

    # @return [Integer] when the next event is due
    def due_ns = @events.empty? ? NEVER_NS : @events.last.at_ns

    def take = @events.pop
  end
end
