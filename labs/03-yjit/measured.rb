# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the proofs of this lab say: claims, tables, charts, sentences.
    class YjitMeasured
      OFF = "YJIT off"
      ON = "YJIT on"
      STAGING = "staging"
      PRODUCTION = "production"

      # Production's, with the large products and the long pages that it leaves out.
      WHOLE = "nothing left out"

      OAUTH = "oauth"
      SHOP = "shop_api"
      TITLES = {OAUTH => "OAuth server", SHOP => "shop's API"}.freeze

      # Of story 3, both services under production's load; nil: not published.
      Published = Data.define(:p99, :p99_ratio, :memory, :memory_ratio, :code)
      STORY = {
        OAUTH => Published.new(p99: "47 → 42 ms, 0.89x", p99_ratio: 42 / 47.0, memory: "541 → 650 MiB, 1.20x", memory_ratio: 650 / 541.0, code: "7.7 MiB"),
        SHOP => Published.new(p99: "549 → 445 ms, 0.81x", p99_ratio: 445 / 549.0, memory: "64.3 → 84.2 GiB, 1.31x", memory_ratio: 84.2 / 64.3, code: "42.9 MiB")
      }.freeze
      STAGING_MEMORY_RATIO = 1.13

      # One proof of YJIT off against on. service: of Yjit::SERVICES; mix: nil of what is neither staging's nor production's
      # kinds_count: of requests, the most frequent ones
      Cell = Data.define(:service, :ruby, :mix, :kinds_count) do
        # @return [String] as people read it, and as verdicts are named
        def to_s = "#{TITLES.fetch(service)}, #{"#{mix}: " if mix}#{Units.counted(kinds_count, "kind")}, Ruby #{ruby}"
      end

      # @return [Hash{Cell => Prove::Verdict}]
      attr_reader :verdicts

      # @param verdicts [Hash{Cell => Prove::Verdict}]
      def initialize(verdicts)
        @verdicts = verdicts
      end

      # @return [Array<Lab::Claim>]
      def claims = [*production_claims, *whole_claims, *staging_claims, *newer_ruby_claims]

      # @return [Array<Lab::Table>]
      def tables = YjitTables.new(self).all

      # @return [Array<Lab::Chart>]
      def charts = YjitCharts.new(self).all

      # @return [Array<String>]
      def conclusions = YjitSentences.new(self).all

      # @return [Hash{String => String}]
      def unknown(quick)
        {**coarse, **silent, **(quick ? left_out : {})}
      end

      # @return [Lab::Ratios::OfRounds, nil] on over off
      def ratio(cell, metric) = Lab::Ratios.of(verdicts.fetch(cell), metric, of: ON, over: OFF)

      # Time is held against published weeks where YJIT was done with most of it: what it compiles during the load is paid there.
      #
      # @return [Lab::Ratios::OfRounds, nil] on over off
      def time_ratio(cell, metric) = (ratio(cell, metric) unless compiling?(cell))

      # @return [Boolean] whether much was compiled while the load that counts was sent
      def compiling?(cell) = (condition(cell, "yjit_new_ratio")&.value || 0) > Prove::Conditions::YJIT_NEW_RATIO_MAX

      # How much larger a metric's ratio is in one proof than in another. Rounds of the two are put together by their number,
      # which any other order would do as well: they are independent.
      #
      # @return [Lab::Ratios::OfRounds, nil] of the first cell's ratio over the second's
      def relative(cell, other, metric)
        one, two = [cell, other].map { |each| round_ratios(each, metric) }
        return unless one && two
        count = [one.size, two.size].min
        Lab::Ratios.of_pairs(two.first(count), one.first(count))
      end

      # @param name [String] of Prove::Conditions
      # @return [Stats::Estimate, nil] middle and range of the rounds, with YJIT on
      def condition(cell, name)
        numbers = verdicts.fetch(cell).valid_trials.select { |trial| trial.variant == ON }.filter_map { |trial| trial.conditions[name] }
        Stats::Estimate.of_range(numbers) if numbers.any?
      end

      # @return [Cell, nil]
      def cell(service, mix, ruby) = verdicts.keys.find { |cell| cell.service == service && cell.mix == mix && cell.ruby == ruby }

      # @return [Array<String>] versions
      def rubies = verdicts.keys.map(&:ruby).uniq

      def newest = rubies.max_by { |version| Gem::Version.new(version) }

      # @return [Array<Cell>] of one service and Ruby, from few kinds of requests to all; fewer than three make no curve
      def curve
        cells = verdicts.keys.select { |cell| cell.service == SHOP && cell.ruby == newest && cell.mix != WHOLE }.sort_by(&:kinds_count)
        (cells.size < 3) ? [] : cells
      end

      # @return [Array<Cell>]
      def of_mix(mix) = verdicts.keys.select { |cell| cell.mix == mix }

      private

      # See Prove::Metric: percentiles of few requests are left out.
      def coarse
        early, few = verdicts.keys.select { |cell| time_ratio(cell, "p99").nil? }.partition { |cell| compiling?(cell) }
        {**early.to_h { |cell| ["times of the #{cell}", "YJIT was still compiling while the load was sent, so that its price was not all there either: a longer warm-up would tell"] },
         **few.to_h { |cell| ["p99 of the #{cell}", "fewer than #{p99_least_count} requests in some trial"] }}
      end

      def p99_least_count = Prove::Metric.percentile("p99").least_requests_count

      # Ruby 3.3 tells them with --yjit-stats alone, which slows down what it tells of.
      def silent
        rubies = verdicts.keys.select { |cell| condition(cell, "yjit_code_bytes") && condition(cell, "yjit_invalidated_count").nil? }.map(&:ruby).uniq
        rubies.to_h { |ruby| ["invalidations on Ruby #{ruby}", "it tells them with --yjit-stats only, which makes YJIT slower"] }
      end

      def left_out
        {"Ruby 3.3, the curve between few and many kinds of requests" => "the short form measures one Ruby, under two mixes",
         "what all of production's code takes" => "the short form's warm-up ends long before rare methods have been called often enough to be compiled"}
      end

      def round_ratios(cell, metric)
        verdict = verdicts.fetch(cell)
        pairs = Prove::PairedValues.new(verdict.trials, verdict.cells.size).pairs(OFF, ON, metric) or return
        pairs.transpose.map { |off, on| on.fdiv(off) }
      end

      def production_claims
        of_mix(PRODUCTION).flat_map do |cell|
          story = STORY.fetch(cell.service)
          service = title(cell)
          [
            Lab::Claim.of_ratio("#{service}: YJIT lowers p99", time_ratio(cell, "p99"), published: story.p99, published_ratio: story.p99_ratio, note: note(cell)),
            Lab::Claim.of_ratio("#{service}: YJIT raises memory", ratio(cell, "pss"), published: story.memory, published_ratio: story.memory_ratio, note: note(cell)),
            Lab::Claim.of_ratio("#{service}: CPU per request, on over off", time_ratio(cell, "cpu_per_request"), note: note(cell)),
            Lab::Claim.of_number("#{service}: code_region_size", condition(cell, "yjit_code_bytes"), unit: "bytes", published: story.code, note: "other code: told, not compared")
          ]
        end
      end

      # What is left out bears on p99: the same claim, of everything.
      def whole_claims
        of_mix(WHOLE).flat_map do |cell|
          story, production = STORY.fetch(cell.service), cell(cell.service, PRODUCTION, cell.ruby)
          [
            Lab::Claim.of_ratio("#{title(cell)}, nothing left out: YJIT lowers p99", time_ratio(cell, "p99"), published: story.p99, published_ratio: story.p99_ratio, note: note(cell)),
            (longer(cell, production) if production)
          ].compact
        end
      end

      # Two proofs, whose rounds have nothing to do with each other: told by the medians.
      def longer(cell, production)
        whole, part = [cell, production].map { |one| Lab::Ratios.estimate(verdicts.fetch(one), OFF, "p99")&.value }
        value = whole.fdiv(part) if whole && part
        Lab::Claim.of_number("#{title(cell)}: p99 without YJIT with all requests, over that without what is left out", value && Stats::Estimate.of_range([value]), unit: "count",
          note: "large products and long pages: left_out.txt")
      end

      # What takes the edge off a ratio is said beside it.
      def note(cell)
        return "#{Units.percent(condition(cell, "yjit_new_ratio").value)} of what YJIT compiled came during the load: not all of its price, and not what it brings in the end" if compiling?(cell)
        unsteady = verdicts.fetch(cell).cells.sum(&:unsteady_count)
        "#{Units.counted(unsteady, "trial")} had not settled when the load began that counts" if unsteady.positive?
      end

      def staging_claims
        of_mix(STAGING).flat_map do |staging|
          production = cell(staging.service, PRODUCTION, staging.ruby)
          shop = staging.service == SHOP
          [
            Lab::Claim.of_ratio("#{title(staging)}: YJIT raises memory, staging's mix", ratio(staging, "pss"), published: ("+13%, 1.13x" if shop),
              published_ratio: (STAGING_MEMORY_RATIO if shop), note: note(staging)),
            (staging_effect(staging, production, shop) if production)
          ].compact
        end
      end

      def staging_effect(staging, production, shop)
        Lab::Claim.of_ratio("#{title(staging)}: production's price over staging's", (relative(production, staging, "pss") unless [staging, production].any? { |cell| compiling?(cell) }),
          published: ("1.31x against 1.13x: 1.16x" if shop), published_ratio: (STORY.fetch(SHOP).memory_ratio / STAGING_MEMORY_RATIO if shop),
          note: "memory with YJIT over memory without, under production's mix, over the same under staging's")
      end

      def title(cell) = "#{TITLES.fetch(cell.service)}, Ruby #{cell.ruby}"

      # They expected it, and gave no figure.
      def newer_ruby_claims
        return [] if rubies.size < 2
        older, newer = rubies.minmax_by { |version| Gem::Version.new(version) }
        TITLES.flat_map do |service, title|
          cells = [newer, older].map { |ruby| cell(service, PRODUCTION, ruby) }
          next [] if cells.include?(nil)
          {"p99" => "p99", "pss" => "memory", "cpu_per_request" => "CPU"}.map do |metric, words|
            Lab::Claim.of_ratio("#{title}: Ruby #{newer}'s YJIT over #{older}'s, #{words}", (relative(*cells, metric) unless cells.any? { |cell| compiling?(cell) }), published: "to be better",
              published_ratio: Lab::Claim::LOWER, note: "on over off on #{newer}, over the same on #{older}: below 1, the newer does better")
          end
        end
      end
    end
  end
end

require_relative "tables"
require_relative "charts"
require_relative "sentences"
