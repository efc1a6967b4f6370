# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Queries says.
      QUERIES = {
        queries_first: ->(endpoint:, count:) {
          "#{endpoint} asks the database #{count.round} times: fewer queries before more threads"
        },
        many_queries: ->(endpoint:, count:) { "#{endpoint} asks the database #{count.round} times" },
        db_of_endpoint: ->(endpoint:, count:, db_ns:, ratio:, requests_count:) {
          "#{endpoint} waits for the database for #{Units.duration(db_ns)}, #{Units.percent(ratio)} of its time, in " \
            "#{count.round(1)} round trips (mean of #{requests_count} recorded requests)."
        },
        queries_of_name: ->(endpoint:, name:, count:) {
          "A mean request of #{endpoint} makes the query \"#{name}\" #{count.round(1)} times."
        },
        threads_needed: ->(today_count:, tuned_count:) {
          "By the forecasts #{Units.counted(today_count, "thread")} in each worker are enough today, and " \
            "#{tuned_count} once two queries do#{": who waits less needs fewer threads" if tuned_count < today_count}."
        },
        one_query: ->(rails:) {
          "one query in the place of many alike" \
            "#{" (`includes` or `preload`; `strict_loading` shows where)" if rails}, or an index; then tune again"
        },
        work_on_queries: "work on the code",
        queries_back: "the code as it was"
      }.freeze
    end
  end
end
