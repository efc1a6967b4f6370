# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Names a fault of the very Puma that serves, where its settings are those that the fault needs, and what cures
      # it.
      #
      # Evidence: the version, the settings. Threshold: the fault's own conditions, by Puma's source and the issue that
      # is named; where another version's rules can be simulated, also a p99 that is a tenth shorter with them (as
      # Choice::EQUAL_P99_WITHIN_RATIO). Effect: that forecast. Cost: an older Puma, or one that is not released. Undo:
      # the old line in the Gemfile.
      class PumaVersion < Rule
        PRIORITY = 50

        # issue: of puma/puma; versions: that have it; what_if: whose rules have it not; lines, factors: of the cure
        Fault = Data.define(:issue, :versions, :what_if, :lines, :factors)

        FAULTS = [
          Fault.new(issue: 3958, versions: "8.0.0".."8.0.2", what_if: nil, lines: {PUMA_RB => "max_io_threads 0"},
            factors: {"puma.max_io_threads" => "0"}),
          Fault.new(issue: 3961, versions: "7.0.0".."8.0.2", what_if: "puma=6.6", factors: {"gem.puma" => "6.6.1"},
            lines: {GEMFILE => %(gem "puma", "~> 6.6")}),
          Fault.new(issue: 3487, versions: "5.0".."6.6.99", what_if: "puma=8.0", factors: {"gem.puma" => "8.0.2"},
            lines: {GEMFILE => %(gem "puma", "~> 8.0")})
        ].freeze

        def call
          FAULTS.select { |fault| of_version?(fault) && send(:"met_#{fault.issue}?") }
            .filter_map { |fault| advised(fault) }
        end

        private

        def of_version?(fault)
          version = @situation.puma_version or return false
          version.between?(*[fault.versions.begin, fault.versions.end].map { |text| Gem::Version.new(text) })
        end

        # Threads that end as I/O threads stay counted, until the pool has none left.
        def met_3958? = @situation.setting(:puma, "max_io_threads").to_i.positive?

        # A busy worker with one thread accepts, and the request waits behind the one that is served.
        def met_3961?
          @situation.topology.workers_count > 1 && @situation.topology.threads_count == 1
        end

        # A thread serves one kept connection while others wait.
        def met_3487?
          workload.arrivals.connections_count.to_i > @situation.topology.slots_count && !closes_connections?
        end

        def closes_connections? = workload.arrivals.reuse_count == 1

        def advised(fault)
          effect = fault.what_if && @situation.effect(what_if: [fault.what_if])
          return if fault.what_if && (effect.nil? || effect.p99_ratio.value > 1 - Choice::EQUAL_P99_WITHIN_RATIO)
          facts = {issue: fault.issue}
          advice(title: say(:puma_has_fault, version: workload.puma_version, **facts), effect:,
            evidence: [say(:fault, threads_count: @situation.topology.threads_count, **facts)],
            change: say(:cure_of_fault, **facts), lines: fault.lines, factors: fault.factors,
            cost: say(:cost_of_cure, **facts), undo: say(:old_puma, version: workload.puma_version))
        end
      end
    end
  end
end
