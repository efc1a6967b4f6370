# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What was measured on what, what measuring cost, and what is not known.
      class Foundations < Base
        # @param contents [Contents]
        def initialize(contents)
          @contents = contents
        end

        # @return [Blocks::Section, nil] nil of what has neither an observation nor anything unknown
        def section
          observation = @contents.observation
          facts = Facts.new(observation) if observation
          rows = {"probe" => facts&.probe, "unknown" => @contents.unknown.map { |field, reason| "#{field}: #{reason}" }}
          return if rows.values.all? { |told| told.nil? || told.empty? }
          whole = Aside.new([Labelled.new({**facts.table, "as modelled" => (modelled if @contents.machine)})]) if facts
          Section.new(id: "small-print", title: "Details", brief: :alone, blocks: [*whole, Labelled.new(rows)])
        end

        private

        # The machine in the simulation, and where its figures come from.
        def modelled
          machine = @contents.machine
          slice = @contents.workload&.timeslice_ms
          [
            "#{Figures.cores(machine.usable_cores)} cores' worth of work for the server",
            *("GVL time slice #{slice} ms" if slice), "ticks of #{Units.duration(machine.tick_ns)}",
            "#{Units.duration(machine.handoff_ns)} from one thread to the next",
            "#{Units.duration(machine.client_cpu_ns)} of the load generator's CPU a request"
          ].join(", ") + whence(machine.calibrated)
        end

        def whence(calibrated)
          calibrated ? "; measured here on #{calibrated.calibrated_at}" : "; typical figures, not measured here"
        end
      end
    end
  end
end
