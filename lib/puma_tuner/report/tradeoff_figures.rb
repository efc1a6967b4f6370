# frozen_string_literal: true

module PumaTuner
  module Report
    # A study of CPU against memory as people read it, the same in every format.
    class TradeoffFigures
      Row = Data.define(:name, :cpu, :cpu_ratio, :pss, :memory_ratio, :p99, :code, :mark, :point)

      TITLES = {"yjit" => "YJIT: CPU against memory", "malloc" => "Allocators: CPU against memory", "gc" => "Garbage collection: CPU against memory"}.freeze

      # @param study [Tradeoff::Study]
      def initialize(study)
        @study = study
      end

      # @return [String]
      def title = TITLES.fetch(@study.subject, "CPU against memory")

      # @param baseline [String] its name, as short as there is room
      # @return [Array<String>] of a row's figures
      def headings(baseline = @study.baseline.variant) = ["CPU/request", "over #{baseline}", "memory (PSS)", "over it", "p99", "code"]

      # @return [Array<Row>] from the least memory to the most
      def rows = @study.points.sort_by { |point| [point.memory, point.variant] }.map { |point| row(point) }

      # @return [String]
      def recommendation = "Recommended: #{@study.recommended}. #{@study.reason}"

      # @return [Array<String>] lines to set
      def settings
        lines = @study.recommended_point.settings
        lines.empty? ? ["(nothing to set#{"; where the app turns YJIT on by itself, as Rails does, config.yjit = false" if @study.subject == "yjit"})"] : lines
      end

      # @return [Array<String>] a sentence, or none
      def estimate
        bytes = @study.estimated_bytes[@study.recommended] or return []
        limit = @study.memory_limit_bytes
        ["For #{Figures.counted(@study.workers_count, "worker")}: at most about #{Units.mebibytes(bytes)}#{" of #{Units.mebibytes(limit)}" if limit}" \
          "#{", as pages that workers share are counted for each" if @study.workers_count > 1}."]
      end

      # @return [Array<String>]
      def remarks = @study.points.flat_map { |point| point.remarks.map { |text| "#{point.variant}: #{text}" } }

      # @return [String]
      def how_to_read
        "Middle and range of #{@study.verdict.rounds_count} rounds; ratios are paired, with 95% intervals, memory at equal requests served. front: nothing else is better in both; " \
          "beaten: something is, by both intervals. code: of the limit at which YJIT stops compiling."
      end

      private

      def row(point)
        Row.new(name: point.variant, cpu: told(point.cpu_per_request_ns) { |ns| Units.duration(ns) }, cpu_ratio: ratio(point, point.cpu_ratio),
          pss: told(point.pss_bytes) { |bytes| Units.mebibytes(bytes) }, memory_ratio: ratio(point, point.memory_ratio), p99: told(point.p99_ns) { |ns| Units.duration(ns) },
          code: code(point), mark: mark(point), point:)
      end

      def told(estimate, &) = Figures.with_range(estimate, &)

      def ratio(point, estimate) = point.equal?(@study.baseline) ? "1" : Figures.ratio(estimate)

      def code(point) = point.code_bytes ? "#{Units.significant(point.code_bytes.fdiv(Units::MIB))} MiB#{" (#{Figures.share(point.code_ratio)}%)" if point.code_ratio}" : "-"

      def mark(point)
        return "recommended" if point.variant == @study.recommended
        return "front" if point.front
        point.beaten ? "beaten" : ""
      end
    end
  end
end
