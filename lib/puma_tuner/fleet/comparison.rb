# frozen_string_literal: true

module PumaTuner
  module Fleet
    # One of the two that are compared.
    #
    # selector: as given; begins_at, ends_at: ISO 8601
    # spans_count: of the window; usable_count: with enough samples and any
    #   request; compared_count: where the other has that, too
    # requests_count: in the spans compared; servers_count, workers_count: on average, nil where unknown
    # restarts_count: of servers, nil where unknown
    # attainments: Array<Stats::Attainment>, of the goals that it was held against, in the spans compared; a limit that
    #   is no bound of the exporter's buckets lies within one, whose requests are taken to be spread over it evenly
    Group = Document.define(:name, :selector, :begins_at, :ends_at, :spans_count, :usable_count, :compared_count,
      :requests_count, :servers_count, :workers_count, :restarts_count, :attainments,
      nested: {attainments: [Stats::Attainment]}, added: {attainments: []})

    # A metric of both. unit: "ns", "bytes", "per_s" or "count"
    #
    # a, b: numbers in that unit, nil where unknown
    # ratio: b over a; nil of too few blocks, and where either is unknown
    # adjusted: the same if both had had the same traffic per worker, nil where that means nothing
    # error_ratio: how far a and b may lie from the truth because of the
    #   histogram's buckets, relative; nil of what has none
    # outcome: :better, :worse, :not_shown, of what is adjusted where there is
    #   that, after Holm over all; nil of what is only told
    # reason: why nothing can be shown whatever the figures are, see Comparer::REASONS; nil where they decide
    Row = Document.define(:name, :label, :unit, :a, :b, :ratio, :adjusted, :error_ratio, :outcome, :reason,
      added: {reason: nil}, symbols: %i[outcome reason],
      nested: {ratio: Stats::Estimate, adjusted: Stats::Estimate})

    # An endpoint whose share of the requests changed. a_ratio, b_ratio: shares
    Mover = Document.define(:endpoint, :a_ratio, :b_ratio)

    # The difference between what the groups were asked.
    #
    # distance_ratio: the share of requests that would have to go to other endpoints (total variation distance)
    # p_value: of there being no difference; nil of too few days
    # shifted: whether it is told apart from chance, and large enough to matter
    # movers: the largest; p99_at_a_mix: ratio of p99, had b's endpoints had a's shares; nil where nothing shifted
    MixShift = Document.define(:distance_ratio, :p_value, :shifted, :movers, :p99_at_a_mix,
      nested: {movers: [Mover], p99_at_a_mix: Stats::Estimate})

    # A service of the fleet, and what could be had for less.
    #
    # mean_per_s, peak_per_s: requests, over the window and in its busiest span
    # parts: {part => share of the requests' time}
    # threads_per_worker: today; rule_threads_count: by the rule of thumb, nil where CPU time is unknown
    # needed_workers_count: for the busiest span, nil where unknown;
    #   memory_bytes: today; saved_bytes: estimated, 0 of none, nil where unknown
    # code_limit_ratio: of the worker nearest to YJIT's limit, nil without YJIT
    # advice: sentences
    Service = Document.define(:name, :mean_per_s, :peak_per_s, :servers_count, :workers_count, :threads_per_worker,
      :parts, :rule_threads_count, :needed_workers_count, :memory_bytes, :saved_bytes, :code_limit_ratio, :advice)

    # Two groups of a fleet, or two periods of one, and all its services.
    #
    # source: "rules" or "raw"; block_s: length of the blocks that intervals rest on; blocks_count: that both have
    # warnings: what was not as it should be with the data, sentences; unknown: an Unknown each
    Comparison = Document.define(:url, :source, :a, :b, :rows, :mix, :services, :block_s, :blocks_count, :warnings,
      :unknown, :command, :started_at,
      kind: :fleet,
      nested: {a: Group, b: Group, rows: [Row], mix: MixShift, services: [Service], unknown: [Unknown]}) do
      # @param name [String] of the metric
      # @return [Row, nil]
      def row(name) = rows.find { |row| row.name == name }

      # @return [Integer] bytes that all services together could do without
      def saved_bytes = services.sum { |service| service.saved_bytes || 0 }
    end
  end
end
