# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # The same of jobs.
      class Jobs < Endpoints
        private

        def works = @contents.observation&.jobs

        def heading = "Jobs: where their time went, in % of the time from beginning to end"

        def headings = %w[job times]

        def possible_parts = Parts.possible(queue: false)

        def noun = "job"
      end
    end
  end
end
