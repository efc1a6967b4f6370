# frozen_string_literal: true

module PumaTuner
  module Prove
    # A metric by which a trial is judged: it has one number per trial.
    #
    # name: its key in Trial#values, Cell#estimates and on the command line; label: as people read it
    # unit: "per_s", "ns", "bytes" or "count"; more_is_better: else less is
    Metric = Document.define(:name, :label, :unit, :more_is_better)

    class Metric
      # The metrics of a served app.
      SERVED = [
        new(name: "throughput", label: "requests/s", unit: "per_s", more_is_better: true),
        new(name: "p50", label: "p50", unit: "ns", more_is_better: false),
        new(name: "p90", label: "p90", unit: "ns", more_is_better: false),
        new(name: "p99", label: "p99", unit: "ns", more_is_better: false),
        new(name: "p999", label: "p99.9", unit: "ns", more_is_better: false),
        new(name: "cpu_per_request", label: "CPU per request", unit: "ns", more_is_better: false),
        new(name: "gc_per_request", label: "GC per request", unit: "ns", more_is_better: false),
        new(name: "gvl_wait_per_request", label: "GVL wait per request", unit: "ns", more_is_better: false),
        new(name: "allocations_per_request", label: "objects per request", unit: "count", more_is_better: false),
        new(name: "pss", label: "memory (PSS)", unit: "bytes", more_is_better: false),
        new(name: "rss", label: "memory (RSS)", unit: "bytes", more_is_better: false),
        new(name: "boot", label: "boot", unit: "ns", more_is_better: false)
      ].freeze

      # The metrics of a block of Ruby.
      BLOCK = [
        new(name: "iterations", label: "iterations/s", unit: "per_s", more_is_better: true),
        new(name: "cpu_per_iteration", label: "CPU per iteration", unit: "ns", more_is_better: false),
        new(name: "gc_per_iteration", label: "GC per iteration", unit: "ns", more_is_better: false),
        new(name: "allocations_per_iteration", label: "objects per iteration", unit: "count", more_is_better: false),
        new(name: "rss", label: "memory (RSS)", unit: "bytes", more_is_better: false)
      ].freeze
    end
  end
end
