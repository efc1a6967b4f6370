# frozen_string_literal: true

module PumaTuner
  module Model
    # CPU that a burst takes more because another thread of the process had the
    # GVL before it, when each burst touches so much memory.
    #
    # same_core_ns: all threads on one core; nil where a process can't be bound to one. idle_ns: free to move, with the
    #   other cores idle; busy_ns: with all others busy
    SwitchCost = Document.define(:working_set_bytes, :same_core_ns, :idle_ns, :busy_ns)

    # The origin of a machine's figures: `puma_tuner calibrate` measured them.
    #
    # machine_key: tells machines apart (cores, CPU model, kernel, quota, Ruby and Puma versions)
    # ruby_description: RUBY_DESCRIPTION; nil in older files
    # round_trip_ns: median latency of an empty app with one connection, which the simulation of it is held against
    # switch_costs: by working set; the machine's own figures are those of the middle one
    # taken_ratio: of the machine's CPU time, what others and the hypervisor took meanwhile; nil: unknown
    Calibrated = Document.define(:calibrated_at, :machine_key, :ruby_version, :ruby_description, :puma_version,
      :round_trip_ns, :switch_costs, :taken_ratio,
      nested: {switch_costs: [SwitchCost]}, added: {ruby_description: nil, switch_costs: [], taken_ratio: nil}) do
      # A judgement. Beside a test suite a thread that wakes up waited 1.07 ms for a core (median), and alone 0.06. With
      # the first figure 2x16 was predicted 18 to 31% too low for five apps of benchmark/advice, with the second 6 to
      # 19%.
      const_set(:TAKEN_MAX_RATIO, 0.1)

      # @return [Boolean] whether others took so much that it is worth to be measured again
      def disturbed? = taken_ratio.to_f > self.class::TAKEN_MAX_RATIO

      # Patched builds of one version differ in more than their version; what follows the revision are flags of one run.
      #
      # @param description [String] RUBY_DESCRIPTION of another
      # @return [Boolean] whether it is the same build, as far as a description tells
      def same_ruby?(description)
        !ruby_description.nil? && [ruby_description, description].map { |text| text[/\A[^)]*\)/] || text }.uniq.one?
      end
    end

    # The machine that the simulated requests run on.
    #
    # cores_count: Integer, that the server may use
    # effective_cores: Array<Float>, entry n - 1: how many cores' worth of work n busy tasks get done together, as long
    #   as n is within the list; its last entry holds for more tasks
    # quota_ns, period_ns: of a control group: CPU time in each period; nil without one
    # tick_ns: the timer that counts a thread's slice
    # handoff_ns, handoff_busy_ns: from one thread's release of the GVL to the next one's first instruction, with
    #   another core idle (which the kernel then wakes) and with all others busy
    # switch_idle_cpu_ns, switch_busy_cpu_ns: CPU that a burst takes more because another
    #   thread had the GVL before it, with a core idle and with all busy; gvl_rule: "fifo",
    #   "barging" or "hot" (see Predict::Rules), as it was seen; nil: by Ruby's version
    # wakeup_idle_ns: Array<Integer>, sample of how late a sleeping thread gets a core on an idle machine
    # wakeup_loaded_ns: Array<Integer>, sample of how long one that computes,
    #   too, waits for a core when it wakes up and all are busy
    # meeting_ratio: how often a thread that wakes up, of a worker with several, shares a core with another worker's for
    #   a while, though another core is idle: over how often if it came to each core alike; nil in older files, which
    #   counts as 0.5, as figures that GitLab published of 16 cores fit up to that; two cores of a virtual machine had
    #   1.0
    # acceptor_cpu_ns: Puma's CPU for each connection; reactor_wakeup_cpu_ns, reactor_register_cpu_ns: for each request
    #   that comes through the reactor; tail_cpu_ns: of a pool thread for each request, after the response has been sent
    # client_send_cpu_ns, client_receive_cpu_ns: CPU per request that the load
    #   generator takes from the same cores; 0 when it runs elsewhere
    # switch_idle_cpu_ns, switch_busy_cpu_ns: CPU that a burst takes more because another thread had the GVL before it,
    #   with another core idle and with all others busy; 0 where it was not measured
    # cold_cpu_ns: CPU that a burst takes more after a wait in which nobody of its process computed, as its core went to
    #   sleep; nil: not told, which counts as none, and in a recording's machine as a typical figure (MachineFit)
    # gvl_rule: how this Ruby was seen to hand over the GVL: "fifo", "barging",
    #   "hot"; nil: not seen, Ruby's version tells
    # calibrated: Calibrated; nil where all are typical figures
    Machine = Document.define(:cores_count, :effective_cores, :quota_ns, :period_ns, :tick_ns, :handoff_ns,
      :handoff_busy_ns, :wakeup_idle_ns, :wakeup_loaded_ns, :acceptor_cpu_ns, :reactor_wakeup_cpu_ns,
      :reactor_register_cpu_ns, :tail_cpu_ns, :client_send_cpu_ns, :client_receive_cpu_ns, :switch_idle_cpu_ns,
      :switch_busy_cpu_ns, :gvl_rule, :calibrated, :meeting_ratio, :cold_cpu_ns, kind: :machine,
      nested: {calibrated: Calibrated},
      added: {switch_idle_cpu_ns: 0, switch_busy_cpu_ns: 0, gvl_rule: nil, meeting_ratio: nil,
              cold_cpu_ns: nil}) do
      # @return [Integer] CPU per request of the load generator
      def client_cpu_ns = client_send_cpu_ns + client_receive_cpu_ns

      # @return [Float, nil] cores that the quota pays for; nil without one
      def quota_cores = quota_ns&.fdiv(period_ns)

      # @return [Float] cores that may be used in the long run
      def usable_cores = [effective_cores.max, quota_cores].compact.min
    end
  end
end
