# frozen_string_literal: true

module PumaTuner
  module Report
    # Two groups of servers as they are read, the same in every format.
    class FleetFigures
      # a, b: "47.0 ms"; change: "-11 %", of b to a; ratio, adjusted: with their intervals; outcome: nil of what is only told
      Row = Data.define(:label, :a, :b, :change, :ratio, :adjusted, :outcome)

      ServiceRow = Data.define(:name, :per_s, :workers, :threads, :gvl_wait, :queue, :memory, :needed, :saved)

      # Of the groups' sizes, a whole number tells enough.
      NUMBERS = {"ns" => :duration, "per_s" => :rate}.freeze

      # @param comparison [Fleet::Comparison]
      def initialize(comparison)
        @comparison = comparison
      end

      # @return [String]
      def title = "Fleet: #{name(@comparison.a)} against #{name(@comparison.b)}"

      # @return [Array<String>] what each group is
      def groups = [@comparison.a, @comparison.b].map { |group| "#{group.selector}, #{group.begins_at} to #{group.ends_at}: #{counts(group)}" }

      # @return [Array<Row>]
      def rows
        @comparison.rows.map do |row|
          Row.new(label: row.label, a: number(row, row.a), b: number(row, row.b), change: (Units.change(row.b / row.a) if row.a&.positive? && row.b),
            ratio: Figures.ratio(row.ratio), adjusted: Figures.ratio(row.adjusted), outcome: row.outcome)
        end
      end

      # @return [Array<String>] how to read the table
      def notes
        errors = @comparison.rows.filter_map { |row| "#{row.label} within #{Units.percent(row.error_ratio)}" if row.error_ratio }
        [
          "Ratios are of b over a, with #{interval}.",
          "\"At equal traffic\": had both had the same requests per second and worker; the outcome is of this where there is one, after Holm over all rows.",
          *undecided,
          ("By the width of the histograms' buckets, figures are known: #{Figures.list(errors)}. Ratios are not as uncertain, where both lie in like places of theirs." if errors.any?)
        ].compact
      end

      # @return [String, nil]
      def mix_sentence
        mix = @comparison.mix or return
        chance = mix.p_value ? format("p = %.3g by swapping blocks", mix.p_value) : "too few days to tell it from chance, six are needed"
        said = mix.shifted ? "The groups were not asked for the same things" : "No shift of the endpoint mix is shown"
        "#{said}: #{Units.percent(mix.distance_ratio)} of the requests would have to go elsewhere to make them alike (#{chance})."
      end

      # @return [String, nil] what is left of p99 without the shift
      def mix_p99
        ratio = @comparison.mix&.p99_at_a_mix or return
        "With a's mix in both, b's p99 would be #{Figures.ratio(ratio)} a's."
      end

      # @return [Array<Array<String>>] endpoint, share in a, share in b; none where nothing shifted
      def movers = @comparison.mix&.shifted ? @comparison.mix.movers.map { |mover| [Figures.printable(mover.endpoint), *[mover.a_ratio, mover.b_ratio].map { |ratio| Units.percent(ratio) }] } : []

      # @return [Array<ServiceRow>]
      def services
        @comparison.services.map do |service|
          ServiceRow.new(name: Figures.printable(service.name), per_s: "#{Units.rate(service.mean_per_s)} (#{Units.rate(service.peak_per_s)})", workers: rounded(service.workers_count),
            threads: [rounded(service.threads_per_worker), service.rule_threads_count || "-"].join(" / "), gvl_wait: Units.percent(service.parts["gvl_wait"]), queue: Units.percent(service.parts["queue"]),
            memory: bytes(service.memory_bytes), needed: service.needed_workers_count ? service.needed_workers_count.to_s : "-", saved: bytes(service.saved_bytes))
        end
      end

      SERVICE_HEADINGS = ["service", "requests/s (peak)", "workers", "threads / by rule", "gvlwait", "queue", "memory", "would do", "could be saved"].freeze

      # @return [Array<String>]
      def service_notes
        ["In all, #{bytes(@comparison.saved_bytes)} could be saved. Estimates from means over the window and its busiest span, by the rule of thumb (100 / CPU %), to know where to look first: " \
         "`puma_tuner tune` on one service predicts and proves what a change brings."]
      end

      # @return [Array<Array(String, Array<String>)>] services with their sentences
      def advice = @comparison.services.reject { |service| service.advice.empty? }.map { |service| [Figures.printable(service.name), service.advice] }

      # @return [Hash{String => String}] what all rests on
      def foundations
        {
          "source" => "#{@comparison.url}, #{(@comparison.source == "rules") ? "recorded rules" : "the exporter's own metrics"}",
          "blocks" => "#{Figures.counted(@comparison.blocks_count, "block")} of #{block}#{hours_note}",
          **Unknowns.of(@comparison.unknown).transform_keys { |what| "unknown: #{what}" }
        }
      end

      private

      # Why rows are not shown whatever their figures say.
      UNDECIDED = {
        short_blocks: "%s: not shown, whatever the figures are. Parts of a day hang together, and intervals of them are narrower than the truth; a --window of four days or more decides.",
        few_blocks: "%s: not shown, as there are too few blocks of time for an interval.",
        traffic_apart: "%s: not shown, as the groups have no traffic per worker in common: the ratio has the traffic's part in it, and what it would be at equal traffic nobody has seen."
      }.freeze
      private_constant :UNDECIDED

      def undecided = @comparison.rows.select(&:reason).group_by(&:reason).map { |reason, rows| format(UNDECIDED.fetch(reason), Figures.list(rows.map(&:label))) }

      def name(group) = (@comparison.a.selector == @comparison.b.selector) ? "#{group.selector} until #{group.ends_at}" : group.selector

      def counts(group)
        parts = [[group.servers_count, "server"], [group.workers_count, "worker"]].filter_map { |count, noun| Figures.counted(count.round, noun) if count }
        [*parts, Figures.counted(group.requests_count, "request"), "#{group.compared_count} of #{Figures.counted(group.spans_count, "span")} compared"].join(", ")
      end

      def number(row, number)
        return "-" unless number
        return bytes(number) if row.unit == "bytes"
        NUMBERS.key?(row.unit) ? Units.public_send(NUMBERS[row.unit], number) : rounded(number)
      end

      # A worker's code and a fleet's memory are five orders of magnitude apart.
      def bytes(number)
        return "-" unless number
        gib = number.fdiv(1 << 30)
        (gib >= 10) ? "#{Units.significant(gib)} GiB" : "#{Units.significant(number.fdiv(Units::MIB))} MiB"
      end

      def rounded(number) = number ? Figures.count(number.round) : "-"

      def interval
        return "no interval" if @comparison.rows.none?(&:ratio)
        "95% intervals from #{Figures.counted(@comparison.blocks_count, "block")} of #{block} drawn again and again"
      end

      def block = {86_400 => "one day", 21_600 => "six hours", 3_600 => "one hour"}.fetch(@comparison.block_s) { Units.duration(@comparison.block_s * Units::NS_PER_S) }

      def hours_note = (@comparison.block_s < 86_400) ? "; with less than four days, how much days differ is in no interval, and nothing is shown" : ""
    end
  end
end
