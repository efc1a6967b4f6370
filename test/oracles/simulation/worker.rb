# frozen_string_literal: true

module SimulationTwin
  # One Puma process: threads of four kinds around one GVL, and its locks. A connection belongs to the worker that accepted it.
  class Worker
    attr_reader :index, :gvl, :pool, :acceptor, :reactor, :locks, :background

    # When one of its pool threads last computed.
    attr_accessor :computed_ns

    def initialize(simulation, index)
      @index = index
      @gvl = Gvl.new(simulation)
      @acceptor = Acceptor.new(simulation, self)
      @reactor = Reactor.new(simulation, self)
      @locks = Locks.new(simulation)
      @pool = Pool.new(simulation, self)
      @simulation = simulation
      @gc_debt_ns = @computed_ns = 0
      plan_gc
      @background = simulation.settings.background.map { |burst_ns, gap_ns| Background.new(simulation, self, burst_ns, gap_ns) }
    end

    # @param debt_ns [Integer] what one more request brings
    # @return [Integer] what it has to collect; 0 mostly
    def due_gc_ns(debt_ns)
      return 0 unless @next_long_gc_ns
      @gc_debt_ns += debt_ns
      return 0 if @gc_debt_ns < @next_long_gc_ns
      due_ns = @next_long_gc_ns
      @gc_debt_ns -= due_ns
      plan_gc
      due_ns
    end

    private

    def plan_gc
      sample_ns = @simulation.settings.long_gcs_ns
      @next_long_gc_ns = sample_ns[@simulation.gc_random.below(sample_ns.size)] unless sample_ns.empty?
    end
  end
end
