# frozen_string_literal: true

module PumaTuner
  # The one-line form in which a pool thread's time is told, inside the server and out of it. Needs nothing but a Budget.
  module ThreadLine
    module_function

    # @param name [String] the thread's: "puma srv tp 001"
    # @param budget [Measure::Budget] of the thread, with some wall time
    # @return [String] "puma srv tp 001: cpu: 65.1% io: 33.7% gc: 1.1% gvlwait: 2.2%"
    def format(name, budget)
      shares = {cpu: :cpu, io: :io, gc: :gc, gvlwait: :gvl_wait}.map { |word, part|
        "#{word}: #{Kernel.format("%.1f", budget.share_ratio(part).to_f * 100)}%"
      }
      "#{name}: #{shares.join(" ")}"
    end

    # @return [String] "Recommended config: puma -t 1:3"
    def recommendation(threads_count) = "Recommended config: puma -t 1:#{threads_count}"
  end
end
