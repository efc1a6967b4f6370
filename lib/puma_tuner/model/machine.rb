# frozen_string_literal: true

module PumaTuner
  module Model
    # Where a machine's figures come from: measured by `puma_tuner calibrate`.
    #
    # machine_key: tells machines apart (cores, CPU model, kernel, quota, Ruby and Puma versions)
    # round_trip_ns: median latency of an empty app with one connection, which the simulation of it is held against
    Calibrated = Document.define(:calibrated_at, :machine_key, :ruby_version, :puma_version, :round_trip_ns)

    # What the simulated requests run on.
    #
    # cores_count: Integer, that the server may use
    # effective_cores: Array<Float>, entry n - 1: how many cores' worth of work n busy tasks get done together, as long as n is
    #   within the list; its last entry holds for more tasks
    # quota_ns, period_ns: of a control group: CPU time in each period; nil without one
    # tick_ns: the timer that counts a thread's slice
    # handoff_ns, handoff_busy_ns: from one thread's release of the GVL to the next one's first instruction, with another core idle
    #   (which the kernel then wakes) and with all others busy
    # switch_idle_cpu_ns, switch_busy_cpu_ns: CPU that a burst takes more because another thread had the GVL before it, with a core idle and
    #   with all busy; gvl_rule: "fifo", "barging" or "hot" (see Predict::Rules), as it was seen; nil: by Ruby's version
    # wakeup_idle_ns: Array<Integer>, sample of how late a sleeping thread gets a core on an idle machine
    # wakeup_loaded_ns: Array<Integer>, sample of how long one that computes, too, waits for a core when it wakes up and all are busy
    # acceptor_cpu_ns: Puma's CPU for each connection; reactor_wakeup_cpu_ns, reactor_register_cpu_ns: for each request that comes
    #   through the reactor; tail_cpu_ns: of a pool thread for each request, after the answer has been sent
    # client_send_cpu_ns, client_receive_cpu_ns: CPU per request that the load generator takes from the same cores; 0 when it
    #   runs elsewhere
    # calibrated: Calibrated; nil where all are typical figures
    Machine = Document.define(:cores_count, :effective_cores, :quota_ns, :period_ns, :tick_ns, :handoff_ns, :handoff_busy_ns, :switch_idle_cpu_ns,
      :switch_busy_cpu_ns, :gvl_rule, :wakeup_idle_ns,
      :wakeup_loaded_ns, :acceptor_cpu_ns, :reactor_wakeup_cpu_ns, :reactor_register_cpu_ns, :tail_cpu_ns, :client_send_cpu_ns,
      :client_receive_cpu_ns, :calibrated, kind: :machine, nested: {calibrated: Calibrated}, added: %i[switch_idle_cpu_ns switch_busy_cpu_ns gvl_rule]) do
      def initialize(switch_idle_cpu_ns: nil, switch_busy_cpu_ns: nil, gvl_rule: nil, **fields)
        super(switch_idle_cpu_ns: switch_idle_cpu_ns || 0, switch_busy_cpu_ns: switch_busy_cpu_ns || 0, gvl_rule:, **fields)
      end

      # @return [Integer] CPU per request of the load generator
      def client_cpu_ns = client_send_cpu_ns + client_receive_cpu_ns

      # @return [Float] cores that may be used in the long run
      def usable_cores = [effective_cores.max, quota_ns&.fdiv(period_ns)].compact.min
    end
  end
end
