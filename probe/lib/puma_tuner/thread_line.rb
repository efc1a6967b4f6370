# frozen_string_literal: true

module PumaTuner
  # A pool thread's budget in one line, and the thread count that follows from it.
  #
  # Pure, and standing on nothing but the budget it is given: it runs in the serving process, where the report stage
  # and its libraries have no business.
  module ThreadLine
    # What is recommended where requests wait for a pool of connections.
    MORE_PLACES = "as it is, and more places in the pool of connections"

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

    # Of a forecast the minimum is the maximum, as that is what was simulated, and what a proof measures. A pool whose
    # threads begin on demand is not the same: which worker takes which client's connection is decided while they do,
    # and clients that keep theirs stay with it. The rule of thumb promises nothing, and has the form that such lines
    # were first printed in.
    #
    # @param threads_count [Integer, nil]
    # @param workers_count [Integer, nil] of a forecast, 1 is a single process; nil: the rule of thumb knows none
    # @param today_workers_count [Integer, nil] that the server has: a cluster that is to become a single process is
    #   told -w 0, as its puma.rb would go on to start workers
    # @return [String] "Recommended config: puma -t 3:3", of a cluster "puma -t 3:3 -w 2"; "puma -t 1:3" by the rule
    def recommendation(threads_count, workers_count: nil, today_workers_count: nil)
      return "Recommended config: unknown, no CPU time was seen" unless threads_count
      clustered = [workers_count, today_workers_count].compact.max.to_i > 1
      workers = " -w #{(workers_count > 1) ? workers_count : 0}" if workers_count && clustered
      "Recommended config: puma -t #{workers_count ? threads_count : 1}:#{threads_count}#{workers}"
    end

    # @return [Array<String>] what stands in the place of a recommendation where requests wait for a pool of
    #   connections: the rule of thumb would answer with threads, which wait for the pool in their turn
    def pool_first
      ["Recommended config: #{MORE_PLACES}",
        "  requests wait for that pool, which more threads do not change; `puma_tuner tune` looks at it"]
    end

    # @param threads_count [Integer, nil] that are recommended
    # @param places_count [Integer, nil] of Active Record's pool in each process; nil: there is none
    # @return [String, nil] that the threads need more of them, in a line below the recommendation
    def few_places(threads_count, places_count)
      return unless threads_count && places_count && threads_count > places_count
      "  Active Record's pool has #{Units.counted(places_count, "place")} in each process: these threads need " \
        "#{threads_count}, in config/database.yml, or requests wait for a connection"
    end

    # @param forecast [Probe::Recommendation] that has one
    # @return [String] what the recommendation rests on, in a line below it
    def forecast(forecast)
      worse = "; proven to be worse: #{forecast.withheld.join(", ")}" if forecast.withheld.any?
      "  by a forecast from #{Units.counted(forecast.requests_count, "recorded request")}: #{found(forecast)}#{worse}"
    end

    # @param forecast [Probe::Recommendation] that has one
    # @return [String] why these settings: "throughput 1.68x (1.64 to 1.72) of today's 1x5"
    def found(forecast)
      found = forecast.ratio&.then do |ratio|
        Kernel.format("%s %.2fx (%.2f to %.2f) of today's %s", forecast.metric, *ratio, forecast.today)
      end
      found || ((forecast.topology == forecast.today) ? "nothing is surely better" : "#{forecast.today} is overloaded")
    end

    # @param forecast [Probe::Recommendation, nil] that has none, or is old
    # @return [String] the same where it is the rule of thumb
    def no_forecast(forecast)
      "  by the rule of thumb, 100 / CPU %; #{why_no_forecast(forecast)}"
    end

    def why_no_forecast(forecast)
      return "there is no forecast yet" unless forecast
      return "the last forecast is #{(forecast.age_s / 60).round} min old" if forecast.old?
      why_not(forecast)
    end
    private_class_method :why_no_forecast

    # @param forecast [Probe::Recommendation] that has none
    # @return [String]
    def why_not(forecast)
      case forecast.why_not
      when "no_engine"
        "for a forecast, install the gem puma_tuner #{VERSION} here, in or outside of the app's bundle"
      when "few_requests" then "a forecast needs more requests than #{forecast.requests_count}"
      when "no_steady_state" then "no setting that was forecast bears this load"
      when "not_reproduced" then "no forecast reproduces what was recorded here; `puma_tuner tune` measures settings"
      else "no forecast can be made: #{forecast.detail}"
      end
    end

    def percent(ratio) = ratio ? Kernel.format("%.1f%%", ratio * 100) : "-"
    private_class_method :percent
  end
end
