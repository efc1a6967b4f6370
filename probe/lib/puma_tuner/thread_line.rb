# frozen_string_literal: true

module PumaTuner
  # A pool thread's budget in one line, and the thread count that follows from it.
  #
  # Pure, and standing on nothing but the budget it is given: it runs in the serving process, where the report stage
  # and its libraries have no business.
  module ThreadLine
    # The form's words and the budget's parts.
    PARTS = {"cpu" => :cpu, "io" => :io, "gc" => :gc, "gvlwait" => :gvl_wait}.freeze

    # The one-line form has no word for these parts.
    OTHER_PARTS = {"lock" => :lock, "sleep" => :sleep, "preempted" => :preempted}.freeze

    # When the other parts take less than this share of the time, they are not worth a second line.
    LEAST_OTHER_RATIO = 0.01

    # A smaller share would be printed as zero.
    LEAST_PRINTED_RATIO = 0.0005

    module_function

    # @param name [String] the thread's
    # @param budget [Probe::Budget]
    # @return [String] "puma srv tp 001: cpu: 19.9% io: 41.1% gc: 0.0% gvlwait: 38.8%"; shares of the time in which the
    #   thread was not idle, a dash for an unknown one
    def format(name, budget)
      "#{name}: #{PARTS.map { |word, part| "#{word}: #{percent(budget.share_ratio(part))}" }.join(" ")}"
    end

    # @param budget [Probe::Budget]
    # @return [String, nil] "  also: lock 12.0% sleep 3.0%", when one of them takes LEAST_OTHER_RATIO
    def also(budget)
      shares = OTHER_PARTS.transform_values { |part| budget.share_ratio(part) || 0 }
      return if shares.values.max < LEAST_OTHER_RATIO
      shown = shares.select { |_, ratio| ratio >= LEAST_PRINTED_RATIO }
      "  also: #{shown.map { |word, ratio| "#{word} #{percent(ratio)}" }.join(" ")}"
    end

    # @param threads_count [Integer, nil]
    # @return [String] "Recommended config: puma -t 1:3"
    def recommendation(threads_count)
      return "Recommended config: unknown, no CPU time was seen" unless threads_count
      "Recommended config: puma -t 1:#{threads_count}"
    end

    def percent(ratio) = ratio ? Kernel.format("%.1f%%", ratio * 100) : "-"
    private_class_method :percent
  end
end
