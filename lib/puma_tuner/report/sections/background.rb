# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Threads that serve no requests, and take the GVL from those that do. Most of their time they are idle in a lock,
      # in IO or asleep, which tells nothing: only what they take is shown.
      class Background < Base
        # Ratios to the window. gvl: what they may have held the GVL for, cpu and gc; nil where unknown
        Told = Data.define(:name, :gvl, :cpu, :gc, :gvl_wait)

        # Less is not worth a line.
        LEAST_RATIO = 0.001

        MOST = {brief: 8, text: 8, markdown: 12, html: 32}.freeze
        private_constant :MOST

        # @param observation [Probe::Observation]
        def initialize(observation)
          @observation = observation
        end

        # @return [Blocks::Section, nil]
        def section
          return if told.empty?
          columns = [Column.new("thread"), Column.new("gvl", :share, "cpu and gc together"),
            *%w[cpu gc gvlwait].map { |name| Column.new(name, :share) }]
          Section.new(id: "background-threads", title: "Background: threads that serve no requests, in % of #{whole}",
            brief: :never, blocks: [
              Figure.new(id: "background",
                blocks: [Table.new(columns, told.map { |row| Row.new(row.to_h.values) }, sortable: true, most: MOST,
                  nouns: %w[thread threads])],
                reading: "these threads' CPU time is taken from the requests, as both share one GVL. Their waits are " \
                  "left out, as they are mostly idle, and so are threads below 0.1%."),
              Note.new("gvl: cpu and gc together, roughly how long they held it.")
            ])
        end

        # @return [Array<Told>] who takes most first
        def told
          @told ||= @observation.background.filter_map { |thread| told_of(thread) }
            .select { |row| row.gvl >= LEAST_RATIO }.sort_by { |row| [-row.gvl, row.name] }
        end

        # @return [String] what the ratios are of
        def whole = (workers_count > 1) ? "the window, mean of #{workers_count} processes" : "the window"

        private

        def workers_count = [@observation.processes.count { |process| process.role != "master" }, 1].max

        # Threads of the same name in several workers are one; each worker has a GVL.
        def told_of(thread)
          budget = thread.budget
          window_ns = @observation.duration_ns * workers_count
          cpu, gc, gvl_wait = [budget.cpu_ns, budget.gc_ns, budget.gvl_wait_ns].map { |ns| ns&.fdiv(window_ns) }
          Told.new(name: thread.name, gvl: cpu + (gc || 0), cpu:, gc:, gvl_wait:) if cpu
        end
      end
    end
  end
end
