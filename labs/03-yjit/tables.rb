# frozen_string_literal: true

module PumaTuner
  module Labs
    # The tables of this lab's report.
    class YjitTables
      Figures = Report::Figures

      # By Prove::Metric's names, with the numbers' unit.
      SPENT = {"p50" => :duration, "p99" => :duration, "cpu_per_request" => :duration, "pss" => :mebibytes}.freeze

      # @param measured [YjitMeasured]
      def initialize(measured)
        @measured = measured
      end

      # @return [Array<Lab::Table>]
      def all = [story, code, *curve]

      private

      def cells = @measured.verdicts.keys

      def story
        Lab::Table.new(title: "YJIT off → on", headings: ["service and load", "p50", "p99", "CPU per request", "memory", "memory on / off"],
          rows: cells.map { |cell| [cell.to_s, *SPENT.map { |metric, unit| off_and_on(cell, metric, unit) }, Figures.ratio(@measured.ratio(cell, "pss"))] },
          notes: ["Middles of the rounds. Memory: sum of PSS over all processes of the server, after as many requests with YJIT as without; its ratio with the 95% interval."])
      end

      def off_and_on(cell, metric, unit)
        [YjitMeasured::OFF, YjitMeasured::ON].map { |variant| Units.public_send(unit, Lab::Ratios.estimate(@measured.verdicts.fetch(cell), variant, metric)&.value) }.join(" → ")
      end

      def code
        Lab::Table.new(title: "What YJIT compiled, in each worker", headings: ["service and load", "code_region_size", "least of the workers", "with what belongs to it", "of its limit", "methods compiled", "invalidations", "new in the load"],
          rows: cells.map { |cell| [cell.to_s, *code_figures(cell)] },
          notes: ["Middle and range of the rounds, at the end of the load, of the worker that has most. What belongs to code (yjit_alloc_size) is not in code_region_size, and is memory, too. " \
            "A method whose callers differ is compiled in several versions; an invalidation throws one away, as what it rested on has changed. New in the load: of the methods compiled in the end, those that were not before it."])
      end

      def code_figures(cell)
        %w[yjit_code_bytes yjit_code_least_bytes yjit_bytes].map { |name| told(cell, name) { |bytes| mebibytes(bytes) } } +
          [told(cell, "yjit_code_ratio") { |ratio| Units.percent(ratio) }] +
          %w[yjit_compiled_count yjit_invalidated_count].map { |name| told(cell, name) { |count| Figures.count(count.round) } } +
          [told(cell, "yjit_new_ratio") { |ratio| Units.percent(ratio) }]
      end

      # Of code, tenths count.
      def mebibytes(bytes) = "#{Units.significant(bytes.fdiv(Units::MIB))} MiB"

      def told(cell, name, &) = Figures.with_range(@measured.condition(cell, name), &)

      def curve
        return [] if @measured.curve.empty?
        rows = @measured.curve.map do |cell|
          [cell.kinds_count.to_s, Figures.ratio(@measured.ratio(cell, "pss")), Figures.ratio(@measured.ratio(cell, "cpu_per_request")), Figures.ratio(@measured.ratio(cell, "p99")), *code_figures(cell).values_at(0, 4)]
        end
        [Lab::Table.new(title: "The shop's API by the variety of its load, Ruby #{@measured.curve.first.ruby}",
          headings: ["kinds of requests", "memory on / off", "CPU on / off", "p99 on / off", "code_region_size", "methods compiled"], rows:,
          notes: ["So many kinds of requests, the most frequent ones of production's, each as often as there. More kinds are other work, too: a ratio of CPU changes with what is asked as well as with how much of it is compiled."])]
      end
    end
  end
end
