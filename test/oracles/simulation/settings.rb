# frozen_string_literal: true

module SimulationTwin
  # A Plan's numbers, by name; lists unpacked.
  class Settings
    LISTS = %i[rates wakeup_idle_ns wakeup_loaded_ns picks pieces times_ns locks background long_gcs_ns].freeze

    # burst_ns: CPU; gc_ns: the part at its end that nothing interrupts; wait_ns: after it, nil after the last; wait_kind: a code
    Piece = Struct.new(:burst_ns, :gc_ns, :wait_ns, :wait_kind) do
      # @return [Boolean] whether it ends at a lock, which is no wait in itself; then wait_ns is the lock's index
      def marker? = wait_ns && MARKERS.include?(wait_kind)
    end
    RELEASE = Parts::MARKERS.fetch("release")
    MARKERS = Parts::MARKERS.values

    NAMES = %i[seed requests_count warm_up_count workers_count threads_min threads_max io_threads_max gvl_rule tick_ns ticks_per_slice handoff_ns handoff_busy_ns
      switch_cpu_ns switch_busy_cpu_ns cold_cpu_ns release_cpu_ns meeting_permille affinity queue_requests after_response park_ns inline_max gate busy_delay_ns single_delay overload_delay_ns overload_factor acceptor_cpu_ns reactor_wakeup_cpu_ns
      reactor_register_cpu_ns tail_cpu_ns cores_count quota_ns period_ns arrivals connections_count think_ns reuse_count gap_ns group_count
      send_cpu_ns receive_cpu_ns stations endpoints].freeze

    attr_reader(*NAMES, :rates, :wakeup_idle_ns, :wakeup_loaded_ns, :times_ns, :picks, :long_gcs_ns)

    # @return [Array<Array(Integer, Integer)>] servers of each lock, and whether it is handed over to the first in line
    attr_reader :locks

    # @return [Array<Array(Integer, Integer)>] burst and mean gap of each background thread
    attr_reader :background

    # @param numbers [Hash{Symbol => Object}] of Plan
    def initialize(numbers)
      NAMES.each { |name| instance_variable_set(:"@#{name}", numbers.fetch(name)) }
      LISTS.each { |name| instance_variable_set(:"@#{name}", numbers.fetch(name).unpack("q*")) }
      @demands = @pieces.each_slice(4).map { |burst_ns, gc_ns, wait_ns, kind| Piece.new(burst_ns, gc_ns, (wait_ns unless wait_ns.negative?), kind) }
        .slice_after { |piece| piece.wait_ns.nil? }.to_a
      @locks = @locks.each_slice(2).to_a
      @background = @background.each_slice(2).to_a
    end

    # @return [Array<Piece>]
    def demand(number) = @demands[number]

    # A load generator on another machine takes no time of these cores.
    def clients_elsewhere? = (send_cpu_ns + receive_cpu_ns).zero?
  end
end
