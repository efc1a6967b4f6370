# frozen_string_literal: true

require_relative "measurement"

module AdviceCheck
  # docs/measured/advice.md
  class Page < Bench::Page
    # @param form [Form]
    # @param measured [Array<Measured>]
    # @param starved [Array<Hash>] lines of the journal
    # @param leg_rounds_count [Integer, nil] rounds after which there were new servers; nil where there were none
    def initialize(form:, measured:, starved:, leg_rounds_count: nil, **)
      super(**)
      @form = form
      @measured = measured
      @starved = starved
      @leg_rounds_count = leg_rounds_count
    end

    # @return [String] what came of it
    def results = paragraphs(facts, targets_table, cases_table, pools)

    # @return [String] the whole page
    def to_s
      paragraphs("# Is the advised setting the best one?", INTRO, facts, "## Targets", targets_table, "## The advice", READING, cases_table, *measured_first, order, pools, "## The grids", GRIDS,
        *@measured.flat_map { |measured| grid(measured) })
    end

    INTRO = <<~TEXT
      Written by `bin/exec rake advice OPTIONS=--write`; not to be edited.

      Six shapes of work are each recorded at three starting points, under #{PumaTuner::CLI::Options::Traffic::CONNECTIONS_CLOSED} clients, as `puma_tuner measure --load` does.
      From each recording `puma_tuner advise`, asked for a rate with `--at`, names a setting: without other goals the one with the shortest p99, or one that has fewer threads or workers and
      next to the same p99. No advice knows of another, nor of an earlier forecast. Then every setting of a grid is measured at that rate, an open loop with Poisson arrivals:
      #{(100 * LOAD_RATIO).round}% of what the setting bears that bears most.

      A server of each setting is there all the time, and they take turns: a round has a short load of each, in changing order, with the same requests at the same instants. p99s are compared within
      their round only, by `PumaTuner::Stats::PairedRatio`: the middle of the ratios (Hodges-Lehmann), and the interval of the exact signed-rank test at 95%. What bears less than
      #{(100 * (Measured::BEARS_FACTOR - 1)).round}% more than the rate is not measured at it, and what has more than #{Race::HOPELESS_FACTOR.round} times the round's shortest p99 in each of the first
      rounds is left out after them, as is after some more rounds what is shown to be behind the best, unless it is a starting point or advised. A load during which others used the machine is sent once more, and does not count when that is no better.
    TEXT

    READING = <<~TEXT
      *Over the best*: the advised setting's p99 over that of the best of the grid. Which one is the best is chosen in the even rounds for the odd ones, and in the odd ones for the even: the
      luckiest of a dozen settings looks better than any is. (What is chosen so is at times not the best, but one that is as good as it for all that can be measured.) The *A/A pair* is a second server at the
      good setting, measured like any other. **Met**: the middle is within 5%, and the interval does not reach beyond
      #{(100 * (Case::WITHIN_RATIO * Case::NOISE_RATIO - 1)).round}%, nor that of the A/A pair beyond #{(100 * (Case::NOISE_RATIO - 1)).round}%. **Missed**: the
      whole interval lies beyond 5%, less what two equal servers were shown to be apart. All else is **not shown**, which is no success.
      *No other*: every other setting was left out as behind, so there is nothing to compare the advised one with, and it is met, whatever the A/A
      pair. *Over the start* is judged alike; a start that does not bear the rate
      can't get worse, and advice to stay changes nothing.
    TEXT

    GRIDS = "p99: the middle of the rounds, and from the least to the most; *sent late*: how late the generator was, which has no core of its own; *forecasts*: what was predicted for each setting from each starting point."
    private_constant :INTRO, :READING, :GRIDS

    private

    def facts = "#{super}\nLoads of #{@form.trial_s} s, #{@form.rounds.min} to #{@form.rounds.max} of each setting; the #{@form.name} form.#{legs}#{advised_by}"

    # Runs from before that have no number.
    def legs
      " After the first rounds, every #{@leg_rounds_count} rounds had new servers, as two of one setting differ for as long as they live." if @leg_rounds_count
    end

    # A later version may have advised, from the same recordings.
    def advised_by
      commits = @measured.flat_map { |one| one.starts.keys.map { |name| one.advice(name)["commit"] } }.compact.uniq - [@commit]
      "\nThe advice is of commit #{commits.map { |commit| "`#{commit}`" }.join(", ")}, from the same recordings." if commits.any?
    end

    def targets_table
      rows = @verdicts.map { |verdict| [verdict.claim, verdict.measured, Bench::OUTCOMES.fetch(verdict.outcome)] }
      Bench::Markdown.table(["target", "measured", "outcome"], rows, left_count: 3)
    end

    def cases_table
      rows = @measured.flat_map do |measured|
        bests = measured.rounds.bests.compact.uniq.join(", ")
        measured.cases.map do |one|
          advised = "#{one.advised}#{" (measured)" if measured.advice(one.start_name)["measured_first"]}"
          [one.shape, one.start_name, one.start, advised, bests, over_best(one), Bench::OUTCOMES.fetch(one.near_best), over_start(one), Bench::OUTCOMES.fetch(one.no_worse)]
        end
      end
      Bench::Markdown.table(["shape", "starting point", "start", "advised", "best", "over the best %", "outcome", "over the start %", "outcome"], rows, left_count: 5)
    end

    # @return [String, nil] what became of advice to measure before anything is changed
    def measured_first
      told = @measured.flat_map do |measured|
        measured.starts.map do |name, start|
          advice = measured.advice(name)
          ratios = advice["measured_first"] or next
          shown = ratios.map { |setting, ratio| "#{setting} #{range(*ratio.values_at("value", "low", "high"))}%" }
          "#{measured.shape.name} from #{start}: #{shown.any? ? shown.join(", ") : advice["reason"]}"
        end
      end.compact
      return if told.empty?
      "*Measured*: there the model misses what was recorded, and the advice is to measure the settings that it names. " \
        "That was done, by a proof of its own, of #{Measurement::PROOF_ROUNDS_COUNT} rounds, and what was shown to be " \
        "better than the start was taken (p99 over the start's: #{told.join("; ")})."
    end

    def over_best(one) = one.unrivalled ? "no other" : percent(one.over_best)

    def over_start(one)
      return "stays" if one.advised == one.start
      one.start_bears ? percent(one.over_start) : "does not bear it"
    end

    # Forecasts further apart than this decide, see PumaTuner::Advise::Choice; measurements closer than that have no order.
    FORECAST_FACTOR = 1 + PumaTuner::Advise::Choice::EQUAL_P99_WITHIN_RATIO
    MEASURED_FACTOR = 1.05
    private_constant :FORECAST_FACTOR, :MEASURED_FACTOR

    def order
      counts = @measured.to_h { |measured| [measured.shape.name, orders(measured)] }.reject { |_, all| all.empty? }
      others = counts.transform_values { |all| all.count(false) }.select { |_, count| count.positive? }
      "Of #{counts.values.sum(&:size)} pairs of settings whose p99s are more than #{(100 * (FORECAST_FACTOR - 1)).round}% apart by the forecasts from one recording, #{others.values.sum} were " \
        "measured the other way round by more than #{(100 * (MEASURED_FACTOR - 1)).round}%#{": #{others.map { |name, count| "#{count} of #{name}" }.join(", ")}" if others.any?}."
    end

    # @return [Array<Boolean>] of each such pair, whether it was not measured the other way round
    def orders(measured)
      rounds = measured.rounds
      measured.starts.keys.flat_map do |start|
        p99s = measured.advice(start)["predicted"].filter_map { |name, ns| [ns, rounds.p99_ns(name)] if ns && rounds.p99_ns(name) }
        p99s.permutation(2).select { |(one, _), (other, _)| one > other * FORECAST_FACTOR }.map { |(_, first), (_, second)| second < first * MEASURED_FACTOR }
      end
    end

    def pools
      named = @starved.map { |one| "#{one["today"]}: #{one["rules"].include?("starved_pool") ? "named" : "**not named**"}, advised #{one["advised"]}" }
      "A pool of 2 connections (#{Shapes::STARVED.title}): #{named.join("; ")}. That each rule speaks of the app that was made for it and of no other one is shown by " \
        "`test/advise/recorded_apps_test.rb`, with recordings of such apps."
    end

    def grid(measured)
      shape = measured.shape
      ["### #{shape.name}", "#{shape.title}. Asked rate: #{measured.rate_per_s.round} requests/s. A/A pair: #{percent(measured.again)}%. " \
        "#{PumaTuner::Units.counted(measured.disturbed_count, "load")} did not count.", grid_table(measured)]
    end

    def grid_table(measured)
      advice = measured.starts.keys.map { |name| measured.advice(name) }
      rows = measured.servers.keys.map do |name|
        forecasts = advice.map { |one| milliseconds(one["predicted"][name]) }
        [name, measured.capacity_per_s(name).round.to_s, *p99s(measured, name), *forecasts]
      end
      Bench::Markdown.table(["setting", "bears, requests/s", "p99, ms", "min…max", "sent late, p99, ms", "rounds", *advice.map { |one| "forecast from #{one["today"]}" }], rows)
    end

    def p99s(measured, name)
      counted = (0...measured.rounds_count).filter_map { |round| measured.trial(name, round) }.reject { |fields| fields["disturbed"] }
      values, lags = %w[p99_ns lag_p99_ns].map { |field| counted.map { |fields| fields[field] } }
      return ["-", "-", "-", "0"] if values.empty?
      [milliseconds(Bench.median(values)), values.minmax.map { |ns| milliseconds(ns) }.join("…"), milliseconds(Bench.median(lags)), values.size.to_s]
    end

    def milliseconds(ns) = ns ? format("%.1f", ns / 1e6) : "-"

    def percent(estimate)
      estimate ? range(estimate.value, estimate.low, estimate.high) : "-"
    end

    # @return [String] ratios, as what they are over 1 in percent
    def range(*ratios)
      value, low, high = ratios.map { |ratio| Bench::Markdown.signed(100 * (ratio - 1)) }
      "#{value} (#{low} to #{high})"
    end
  end
end
