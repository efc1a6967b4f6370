# frozen_string_literal: true

module SimulationTwin
  # One run of a Plan. The same plan gives the same outcome, to the nanosecond.
  class Simulation
    # Codes of what happens.
    KINDS = CODES.fetch(:event)

    attr_reader :settings, :now_ns, :cores, :background_random, :gc_random, :wakeups, :stations, :clients, :backlog, :tally, :events_count, :hash_number

    # @param plan [Hash{Symbol => Object}] of Plan#to_h
    def initialize(plan)
      @settings = Settings.new(plan)
      @now_ns = @events_count = 0
      @hash_number = FNV_OFFSET
      @queue = EventQueue.new
      @cores = Cores.new(self)
      @wakeups = Wakeups.new(@settings, @cores)
      @background_random = RandomStream.new(@settings.seed, RandomStream::BACKGROUND)
      @gc_random = RandomStream.new(@settings.seed, RandomStream::GC)
      @stations = @settings.stations.map { |servers_count| Station.new(self, servers_count) }
      @backlog = []
      @tally = Tally.new(self)
      @workers = Array.new(@settings.workers_count) { |index| Worker.new(self, index) }
      @clients = Clients.new(self)
    end

    # @return [Hash] see Tally#result
    def call
      @cores.quota_renewed if @settings.quota_ns.positive?
      @clients.begin
      @workers.each { |worker| worker.background.each(&:sleep_a_while) }
      step until @tally.full? || @deadlock
      @tally.result(@deadlock || [])
    end

    # Threads wait for each other's locks, and nothing more is to be learned.
    #
    # @param locks [Array<Integer>] their indexes
    def deadlocked(locks) = @deadlock = locks

    # @param kind [Symbol] of KINDS, and the method that is called
    def after(delay_ns, kind, receiver, argument = nil) = @queue.add(@now_ns + delay_ns, kind, receiver, argument)

    # @return [Integer] whose GVL somebody has
    def busy_workers_count = @workers.count { |worker| worker.gvl.owned? }

    # A new connection waits for an acceptor.
    def connect(connection)
      @backlog << connection
      @workers.each { |worker| worker.acceptor.notice }
    end

    private

    # FNV-1a, 64 bits (Fowler, Noll, Vo).
    FNV_OFFSET = 0xcbf29ce484222325
    FNV_PRIME = 0x100000001b3
    private_constant :FNV_OFFSET, :FNV_PRIME

    # Moves to what happens next. Of a burst's end and an event at the same time the burst's end comes first: a thread that is
    # just done is not interrupted.
    def step
      event_ns = @queue.due_ns
      burst_ns = @cores.due_ns
      return end_burst(burst_ns) if burst_ns <= event_ns
      event = @queue.take
      @now_ns = event_ns
      note(event.kind)
      event.receiver.public_send(event.kind, event.argument)
    end

    def end_burst(burst_ns)
      @now_ns = burst_ns
      task = @cores.finish
      note(task ? :burst_ended : :quota_spent)
      task&.burst_ended
    end

    # Two runs that agree in this took the same steps at the same times.
    def note(kind)
      @events_count += 1
      [@now_ns, KINDS.fetch(kind)].each { |number| @hash_number = ((@hash_number ^ number) * FNV_PRIME) & RandomStream::MASK }
    end
  end
end
