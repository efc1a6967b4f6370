# frozen_string_literal: true

module PumaTuner
  module Report
    # Statements in words: what stages say of forecasts and proofs. What rules of advice say is in AdviceWords, which
    # has a file for each of them.
    module Statements
      # What to do when rounds are void, by Void's kind.
      CURES = {
        "failed" => "A proof needs the same correct responses from all; the server's log says why it fails. " \
          "Fix the app or the request file.",
        "unlike" => "Make sure that what runs, and its responses, stay the same from round to round.",
        "replaced" => "Its log says why. If fork_worker reforks the workers, set puma.fork_worker=0.",
        "generator" => "Send less: a lower --rate, or fewer --connections."
      }.freeze

      # Why a forecast has no steady state, as clauses.
      FORECASTS = {
        beyond_capacity: ->(rate_per_s:, capacity_per_s:) {
          "#{Units.rate(rate_per_s)} requests/s arrive and at most #{Units.rate(capacity_per_s)}/s can be served: " \
            "the queue grows without bound"
        },
        queue_grows: ->(rate_per_s:, unserved_ratio:) {
          "#{format("%.0f%%", unserved_ratio * 100)} of #{Units.rate(rate_per_s)} requests/s cannot be served: " \
            "the queue grows without bound"
        },
        deadlock: ->(locks:) {
          "requests that hold locks wait for each other's forever (a deadlock): #{locks.join(" and ")}"
        }
      }.freeze

      # Why a round is void, as clauses.
      VOIDS = {
        generator_busy: ->(cpu_ratio:) {
          "the load generator used #{Units.percent(cpu_ratio)} of a core: it, not the server, was the bottleneck"
        },
        generator_late: ->(lag_ns:) {
          "the load generator sent #{Units.duration(lag_ns)} late (p99): the machine is too busy for this rate"
        },
        littles_law: ->(in_flight_ratio:) {
          "Little's law does not hold: throughput x latency is #{Units.percent(in_flight_ratio)} of the number of " \
          "connections"
        },
        disturbed: ->(taken_ratio:) {
          "other processes took #{Units.percent(taken_ratio)} more of the machine than during the other variant's turns"
        },
        workers_replaced: "workers of the server were replaced under load",
        process_gone: "a process of the server went away under load",
        changed: ->(fact:, variant:, before:, now:) {
          "#{fact} was #{before} when #{variant} was looked at, and is now #{now}"
        }
      }.freeze

      # Why a proof had no more rounds.
      STOPS = {
        planned_rounds: ->(rounds_count:) { "all #{rounds_count} planned rounds were run" },
        precise_rounds: ->(rounds_count:, wanted_count:, half_width_ratio:) {
          "#{rounds_count} rounds were run: by the scatter of the first ones, intervals of " \
            "±#{Units.percent(half_width_ratio)} take #{wanted_count}"
        },
        imprecise_rounds: ->(rounds_count:, wanted_count:, half_width_ratio:) {
          "all #{rounds_count} rounds that were allowed were run; by the scatter of the first ones, intervals of " \
            "±#{Units.percent(half_width_ratio)} would take #{wanted_count} (--rounds)"
        },
        primary_decided: ->(rounds_count:) { "the primary metric was decided, after #{rounds_count} rounds" },
        voids_in_a_row: ->(rounds_count:, variant:, void:) {
          "#{rounds_count} rounds in a row were void, #{Statements.last_void(variant, void)}"
        },
        too_many_voids: ->(rounds_count:, variant:, void:) {
          "#{rounds_count} rounds were void, #{Statements.last_void(variant, void)}"
        },
        time_used_up: "the time limit is used up",
        no_time_for_a_round: ->(left_s:, round_s:, rounds_count:, lacking_s:) {
          "not one round fits into what --time left after a look at the variants: #{left_s.floor} s, where a round " \
            "takes about #{round_s.ceil} s. #{Units.counted(rounds_count, "round")}, the fewest that can show " \
            "anything, need #{lacking_s.ceil} s more"
        },
        scattered: ->(rounds_count:, effect_ratio:) {
          "the rounds differ so much from each other that #{rounds_count} of them would not show a change of " \
            "#{Units.percent(effect_ratio)}"
        },
        interrupted: "it was interrupted",
        # While it runs.
        void_round: ->(round:, variant:, void:, output:) {
          last = "; the last lines of its output: #{output.join(" / ")}" if output.any?
          "round #{round} is void and runs again: with #{variant}, #{Statements.nested(void.fetch("detail"))}#{last}"
        }
      }.freeze

      # What a reader of a proof must know beside its figures, as clauses.
      REMARKS = {
        coarse_p99: ->(requests_count:) {
          "p99 comes from fewer than #{requests_count} requests per trial: use longer trials"
        },
        yjit_limit_near: ->(used_ratio:) {
          "YJIT has used #{Units.percent(used_ratio)} of its memory limit, and stops compiling at 100%: give it more " \
            "(--yjit-mem-size)"
        },
        connections_short: "requests had to wait for a connection of the generator: raise --connections",
        fell_behind: "the queue still grew when a trial's load ended, as more requests came than were answered: send " \
          "a lower --rate",
        few_iterations: ->(iterations_count:, duration_s:) {
          "only #{Units.counted(iterations_count, "iteration")} of the block fitted into #{duration_s} s; " \
            "use longer trials"
        },
        idle_iterations: "an iteration took almost no time; check that the block repeats its work as often as its " \
          "argument says",
        fewer_rounds: ->(rounds_count:, wanted_count:) {
          "to fit into the time limit, #{Units.counted(rounds_count, "round was", "rounds were")} planned instead of " \
            "#{wanted_count}"
        },
        shorter_trials: ->(seconds:, wanted_seconds:) {
          "to fit into the time limit, trials were shortened: #{Statements.trial(seconds)} instead of " \
            "#{Statements.trial(wanted_seconds)}"
        },
        longer_trials: ->(seconds:, wanted_seconds:, responses_count:) {
          "each trial sends load for #{Units.significant(seconds)} s instead of " \
            "#{Units.significant(wanted_seconds)} s, as it lasts #{responses_count} responses of the slowest variant " \
            "at least: where requests queue, send by fewer --connections, as many as the server has threads, or at a " \
            "lower --rate"
        },
        short_turns: "requests/s are too low, and long latencies are missing, because turns are short beside a " \
          "response. That is enough for what a request costs; for longer turns, add --expect \"p99 not worse\"",
        too_few_rounds: ->(rounds_count:, least_count:) {
          "the time limit allows #{Units.counted(rounds_count, "round")}, and significance takes at least " \
          "#{least_count}"
        },
        left_out: ->(variants:, least_count:, rounds_count:) {
          planned = "#{Units.counted(rounds_count, "was", "were")} planned" if rounds_count
          "#{Figures.list(variants)} #{variants.one? ? "was" : "were"} left out: with all variants nothing is shown " \
            "by fewer than #{least_count} rounds, and #{planned || "the time limit allows fewer"}"
        },
        failed_at_look: ->(variant:, text:) {
          "#{variant} was left out, as it failed when it was looked at before the rounds: #{text}"
        },
        noise_left_out: "to fit into the time limit, the noise was not measured beforehand"
      }.freeze

      # Why an expectation was not shown, as clauses.
      OBJECTIONS = {
        variant_failed: ->(attempts_count:, all_count:, reason:) {
          "it failed in #{attempts_count} of #{all_count} rounds: #{Statements.nested(reason)}"
        },
        not_compared: ->(metric:, variant:) { "#{metric} of #{variant} could not be compared" },
        few_requests: ->(metric:, least_count:, requests_count:) {
          "#{metric} takes #{Figures.count(least_count)} requests in each trial, and one had " \
            "#{Figures.count(requests_count)}: use longer trials"
        },
        no_interval: ->(rounds_count:) { "#{rounds_count} rounds are too few for an interval" },
        goal_missed: ->(metric:, level_ratio:, latency_ns:) {
          value, low, high = latency_ns.map { |ns| Units.duration(ns) }
          format("#{metric} was #{value}, and its %.0f%% interval is #{low} to #{high}", (level_ratio * 100).floor)
        },
        elsewhere: ->(interval:, level_ratio:, outcome:, adjusted_p_value:) {
          found = {nil => nil, "not_shown" => "no difference is shown; "}.fetch(outcome) { "it is #{outcome}; " }
          chance = ", but with this many metrics one may be so by chance (adjusted p %.2f)"
          format("#{found}the %.0f%% interval is %.3f to %.3f", (level_ratio * 100).floor, *interval) +
            (adjusted_p_value ? format(chance, adjusted_p_value) : "")
        }
      }.freeze

      # Errors and older files have a text.
      WORDS = {told: ->(text:) { text }}.merge(FORECASTS, VOIDS, STOPS, REMARKS, OBJECTIONS).freeze

      module_function

      # @param statement [Statement, nil]
      # @param table [Hash{Symbol => String, Proc}]
      # @return [String, nil] words; of what another version says with other facts, its kind
      def words(statement, table = WORDS)
        return unless statement
        words, facts = table[statement.kind], statement.facts.transform_keys(&:to_sym)
        return words if words.is_a?(String)
        fits?(words, facts) ? words.call(**facts) : statement.kind.to_s.tr("_", " ")
      end

      # @param words [Proc, nil]
      def fits?(words, facts)
        return false unless words
        names = words.parameters.group_by(&:first).transform_values { |parameters| parameters.map(&:last) }
        needed = names.fetch(:keyreq, [])
        (needed - facts.keys).empty? && (names.key?(:keyrest) || (facts.keys - needed - names.fetch(:key, [])).empty?)
      end

      # @param fields [Hash{String => Object}] of a statement that is a fact of another
      # @return [String]
      def nested(fields) = words(Statement.from_document(fields))

      # @param void [Hash{String => Object}] fields of a Prove::Void
      # @return [String]
      def last_void(variant, void)
        "the last because, with #{variant}, #{nested(void.fetch("detail"))}. #{CURES.fetch(void.fetch("kind"))}"
      end

      # @param seconds [Hash{String => Numeric}] of TrialRunner::Times
      # @return [String]
      def trial(seconds)
        "#{seconds.fetch("load").round(1)} s of load, at most #{seconds.fetch("warmup").round(1)} s of warm-up, the " \
          "cause #{"not " unless seconds.fetch("probe").positive?}looked for"
      end
    end
  end
end
