# frozen_string_literal: true

module PumaTuner
  module Report
    # Two logs held against each other, in words.
    module CompareWords
      # Which time of a request it is.
      SEEN_FROM = {
        "app" => "the app's time, as who asked it saw it", "client" => "the time until the client had its response"
      }.freeze

      # Why nothing is shown, whatever the figures are.
      UNDECIDED = {
        other_hours: "Nothing is shown, whatever the figures are: the logs are of other hours of the day, and " \
          "traffic differs between hours. Compare with the same hours of a day before.",
        few_blocks: "Nothing is shown, whatever the figures are: the logs have too little time in common, or too " \
          "few requests in it, for an interval. Take longer logs.",
        short_blocks: "Nothing is shown, whatever the figures are: what disturbs this server lasts too long for logs " \
          "of this length, and intervals are narrower than the truth. Take longer logs, best of four days and more."
      }.freeze

      # Why an endpoint is not compared.
      REASONS = {
        few_requests: "too few requests", only_in_a: "only in the first", only_in_b: "only in the second",
        not_asked: "beyond --top"
      }.freeze

      LEFT_OUT = {
        "no_request" => "lines that are no request", "asset" => "for files of pictures, styles or scripts",
        "no_time" => "without a time", "interleaved" => "under way beside others, whose lines have no tag"
      }.freeze

      # What a reader has to know.
      REMARKS = {
        other_formats: ->(a:, b:) {
          "The logs are of different formats (#{a}, #{b}), which take the time at different places: the ratio has " \
            "that in it."
        },
        left_hours: ->(log:, ratio:) {
          "#{log}: #{Units.percent(ratio)} of its requests are left out, as they came at hours that the other does " \
            "not have, or that it has on more days than the rest."
        },
        other_traffic: ->(ratio:) {
          "b served #{Units.times(ratio.first)} as many requests per second. At more requests, queues are longer: a " \
            "part of the change may be theirs."
        },
        errors_of_one: ->(log:, other:, ratio:) {
          "#{other} has no response with status 500 and above, and #{log} has #{Units.percent(ratio)}: that makes no " \
            "ratio, and the outcome goes by the difference."
        },
        other_endpoints: ->(covered_ratio:) {
          "The mix is made equal over endpoints that both were asked for often enough; they have " \
            "#{Units.percent(covered_ratio)} of the requests."
        },
        less_than_days: "The intervals are of these hours: by how much one day differs from another is in none of " \
          "less than four days."
      }.freeze

      # @param statement [Statement]
      # @return [String]
      def self.remark(statement)
        words = REMARKS.fetch(statement.kind)
        words.is_a?(Proc) ? words.call(**statement.facts.transform_keys(&:to_sym)) : words
      end
    end
  end
end
