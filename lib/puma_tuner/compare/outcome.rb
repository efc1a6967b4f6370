# frozen_string_literal: true

module PumaTuner
  module Compare
    # One of the two logs.
    #
    # name: of the file, "-" of standard input; format: "combined"; seen_from: which time of a request it is, see
    #   Log::SEEN_FROM
    # begins_at, ends_at: of the first and the last request, ISO 8601
    # requests_count: all that count; compared_count: in the spans that both logs have
    # left_out: {why => number of lines or requests}, see Log
    # resolution_ns: of the times in it
    Facts = Document.define(:name, :format, :seen_from, :begins_at, :ends_at, :requests_count, :compared_count,
      :left_out, :resolution_ns)

    # One endpoint in both.
    #
    # a_count, b_count: requests that did not end with an error
    # rows: Array<Fleet::Row>, see Comparer::METRICS; without any where `reason` says why
    # reason: :few_requests, :only_in_a, :only_in_b, or :not_asked of one beyond those that were to be told of
    Endpoint = Document.define(:endpoint, :a_count, :b_count, :rows, :reason, symbols: [:reason],
      nested: {rows: [Fleet::Row]})

    # Two logs held against each other.
    #
    # rows: Array<Fleet::Row> of all requests; `adjusted` is at equal mix: as if endpoints had been asked for as often,
    #   each, in b as in a
    # endpoints: the most frequent first
    # mix: how far the mixes are apart, nil where that can't be told; mix_rows: {metric => Estimate}, by how much the
    #   other mix alone changed b
    # covered_ratio: the share of requests (in the log where it is smaller) that endpoints have which both were asked
    #   for often enough; the mix is made equal over these
    # pairing: :week, :hours, or :order, see Pairing; span_s: length of the spans that were paired; block_s: of the
    #   blocks that were drawn, blocks_count: how many
    # correlation_s: for how long what disturbs lasts, by the spans; nil of too few spans
    # reason: why nothing can be shown whatever the figures are, see Pairing#reason; nil where they decide
    # remarks: an Array<Statement>: what a reader has to know, and what could not be compared
    Outcome = Document.define(:a, :b, :rows, :endpoints, :mix, :mix_rows, :covered_ratio, :pairing, :span_s, :block_s,
      :blocks_count, :correlation_s, :reason, :remarks, :command, :started_at,
      kind: :log_comparison, symbols: %i[pairing reason],
      nested: {a: Facts, b: Facts, rows: [Fleet::Row], endpoints: [Endpoint], mix: Fleet::MixShift,
               mix_rows: {String => Stats::Estimate}, remarks: [Statement]}) do
      # @param name [String] of the metric
      # @return [Fleet::Row, nil]
      def row(name) = rows.find { |row| row.name == name }

      # @param name [String]
      # @return [Endpoint, nil]
      def endpoint(name) = endpoints.find { |one| one.endpoint == name }
    end
  end
end
