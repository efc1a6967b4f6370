# frozen_string_literal: true

module PumaTuner
  module Model
    # What the simulated requests run on.
    #
    # cores_count: Float, cores that the server may use (a control group's quota makes it fractional)
    # tick_ns: the timer that counts a thread's slice; quantum_ns: the slice, a whole number of ticks
    # handoff_ns: from one thread's release of the GVL to the next one's first instruction
    # client_cpu_ns: CPU per request that the load generator takes from the same cores; 0 when it runs elsewhere
    Machine = Document.define(:cores_count, :tick_ns, :quantum_ns, :handoff_ns, :client_cpu_ns, kind: :machine)
  end
end
