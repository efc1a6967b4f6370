# frozen_string_literal: true

module Accuracy
  # Exact, for the one thing that it counts.
  class GvltoolsTool < Tool
    COVERS = {gvl_wait: %i[gvl_wait]}.freeze
    READING = "LocalTimer: gvl_wait"

    def prepare
      require "gvltools"
      GVLTools::LocalTimer.enable
    end

    def around
      before_ns = GVLTools::LocalTimer.monotonic_time
      yield
      {gvl_wait: GVLTools::LocalTimer.monotonic_time - before_ns}
    end
  end
end
