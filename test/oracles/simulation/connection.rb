# frozen_string_literal: true

module SimulationTwin
  # One connection, and the request that is under way on it.
  #
  # worker: that accepted it; fresh: not read from yet; registered: the reactor watches it; data_ready: a request has arrived
  # that nobody has read; closing: it ends with this answer; parked: the pool thread that waits for its next request
  # served_count: requests in its life; inline_count: since it last was with the reactor
  # pieces, endpoint_index: of the request; the rest: what it has met; lock_waits: by lock's index, how often it had to wait and how long
  Connection = Struct.new(:index, :worker, :open, :fresh, :registered, :data_ready, :closing, :parked, :served_count, :inline_count,
    :pieces, :endpoint_index, :intended_ns, :ready_ns, :answered_ns, :queue_ns, :gvl_wait_ns, :on_core_ns, :gc_ns, :held_ns, :waited_ns, :slices_count, :lock_waits) do
    def self.at(index) = new(index, nil, false, false, false, false, false, nil, 0, 0)

    # A new request begins.
    def intend(pieces, endpoint_index, intended_ns)
      self.pieces = pieces
      self.endpoint_index = endpoint_index
      self.intended_ns = intended_ns
      self.queue_ns = self.gvl_wait_ns = self.on_core_ns = self.gc_ns = self.held_ns = self.slices_count = 0
      self.waited_ns = Array.new(Parts::STEPS.size, 0)
      self.lock_waits = Hash.new { |waits, lock| waits[lock] = [0, 0] }
    end

    # A new connection begins, in place of one that was closed.
    def connect
      self.open = self.fresh = true
      self.closing = false
      self.worker = nil
      self.served_count = self.inline_count = 0
    end
  end
end
