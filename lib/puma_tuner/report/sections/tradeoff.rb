# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # A study of CPU against memory: settings from the least memory to the most, and what to take of them.
      class Tradeoff < Base
        # A point in words.
        Told = Data.define(:name, :cpu_ratio, :memory_ratio, :mark, :point)

        TITLES = {"yjit" => "YJIT: CPU against memory", "malloc" => "Allocators: CPU against memory",
                  "gc" => "Garbage collection: CPU against memory"}.freeze

        HOW_TO_READ = "ratios are paired, with 95% intervals, memory at equal requests served. Pareto front: no " \
          "other variant is better in both; dominated: one is, by both intervals. code: of the limit at which " \
          "YJIT stops compiling."
        private_constant :TITLES, :HOW_TO_READ

        # @param study [Tradeoff::Study]
        def initialize(study)
          @study = study
        end

        # @return [Blocks::Page]
        def page
          bytes = @study.estimated_bytes[@study.recommended]
          Page.new(title: TITLES.fetch(@study.subject, "CPU against memory"), date: @study.verdict.started_at,
            command: @study.verdict.command, head: [Labelled.new(points(bytes), style: :points)],
            parts: [Part.new(id: "variants", title: "By variant", sections: [variants]),
              Part.new(id: "methodology", title: "Methodology", sections: [foundations])])
        end

        # @return [Array<Told>] from the least memory to the most
        def told
          @study.points.sort_by { |point| [point.memory, point.variant] }.map do |point|
            Told.new(name: point.variant, cpu_ratio: ratio(point, point.cpu_ratio),
              memory_ratio: ratio(point, point.memory_ratio), mark: mark(point), point:)
          end
        end

        private

        def points(bytes)
          {"Recommended" => "#{@study.recommended}. #{@study.reason}", "To set" => settings,
           "Memory" => (estimate(bytes) if bytes)}
        end

        def settings
          lines = @study.recommended_point.settings
          return lines.map { |line| Code.new(line) } unless lines.empty?
          by_rails = "; where the app turns YJIT on by itself, as Rails does, config.yjit = false"
          "nothing#{by_rails if @study.subject == "yjit"}"
        end

        def estimate(bytes)
          limit = @study.memory_limit_bytes
          "For #{Figures.counted(@study.workers_count, "worker")}: at most about " \
            "#{Units.mebibytes(bytes)}#{" of #{Units.mebibytes(limit)}" if limit}" \
            "#{", as pages that workers share are counted for each" if @study.workers_count > 1}."
        end

        # Places in a row, of what a terminal has room for beside each other: first what it is about.
        RATIOS = [0, 2, 4].freeze
        FIGURES = [0, 1, 3, 5, 6].freeze
        private_constant :RATIOS, :FIGURES

        def variants
          baseline = @study.baseline.variant
          columns = [Column.new("", whole: true), Column.new("CPU/request", :duration_with_unit),
            Column.new("over #{baseline}", :figure, length: 29, short: "CPU over #{baseline}"),
            Column.new("memory (PSS)", :mebibytes), Column.new("over it", :figure, short: "memory over it"),
            Column.new("p99", :duration_with_unit), Column.new("code", :figure)]
          rows = told.map do |told|
            point = told.point
            Row.new([told.name, point.cpu_per_request_ns, told.cpu_ratio, point.pss_bytes, told.memory_ratio,
              point.p99_ns, code(point)], marks: [*told.mark])
          end
          narrow = [part(columns, rows, RATIOS), part(columns, rows.map { |row| row.with(marks: []) }, FIGURES)]
          Section.new(id: "points", title: "By variant",
            blocks: [Chart.new(:tradeoff, @study), Table.new(columns, rows, style: "dense", narrow:),
              Note.new("Middle and range of #{@study.verdict.rounds_count} rounds; #{HOW_TO_READ}"),
              *remarks.map { |text| Note.new(text) }])
        end

        def part(columns, rows, places)
          Table.new(columns.values_at(*places), rows.map { |row| row.with(cells: row.cells.values_at(*places)) })
        end

        def ratio(point, estimate) = point.equal?(@study.baseline) ? "1" : Figures.ratio(estimate)

        def code(point)
          return unless point.code_bytes
          share = " (#{Figures.share(point.code_ratio)}%)" if point.code_ratio
          "#{Units.significant(point.code_bytes.fdiv(Units::MIB))} MiB#{share}"
        end

        def mark(point)
          return "recommended" if point.variant == @study.recommended
          return "Pareto front" if point.pareto_optimal
          "dominated" if point.dominated
        end

        def remarks = @study.points.flat_map { |point| point.remarks.map { |text| "#{point.variant}: #{text}" } }

        def foundations
          verdict = @study.verdict
          rows = {"rounds" => "#{verdict.rounds_count} of #{@study.points.size} variants, each in fresh processes, " \
            "in shuffled order; #{Figures.counted(verdict.voided_count, "trial")} void and run again",
                  "load" => verdict.load&.arrivals, "machine" => Facts.machine(verdict.machine),
                  "kernel" => verdict.machine.kernel, "started" => verdict.started_at}
          Section.new(id: "rounds", title: "Methodology", brief: :never, open: false, blocks: [Labelled.new(rows)])
        end
      end
    end
  end
end
