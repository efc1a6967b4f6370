# frozen_string_literal: true

module Accuracy
  # Exact, for one thread at a time.
  class GvlTimingTool < Tool
    # Running is having the GVL, on a core or not, collecting garbage or not.
    COVERS = {cpu: %i[cpu preempted gc], gvl_wait: %i[gvl_wait], io: %i[io]}.freeze
    READING = "running: cpu; stalled: gvl_wait; idle: io, as gvl_metrics_middleware calls it"

    def prepare = require("gvl_timing")

    def around(&)
      timer = GVLTiming.measure(&)
      {cpu: timer.running_duration_ns, gvl_wait: timer.stalled_duration_ns, io: timer.idle_duration_ns}
    end
  end
end
