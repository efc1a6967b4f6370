# frozen_string_literal: true

require_relative "accuracy"
require_relative "claims_of_servers"

module PumaTuner
  module Labs
    class MythBusters
      # What follows, in sentences made from the numbers. Pure: of one Measured.
      class Conclusions
        # Of the best throughput: a rule that has more has held.
        HELD_RATIO = 0.95

        # @param measured [Measured]
        def initialize(measured)
          @measured = measured
        end

        # @return [Array<String>]
        def all = [language, rule, forecast, session].compact

        private

        def language
          puma, go = Grid::PUMA.name, Grid::GO.name
          io, work, level = %w[/io-only /realistic /level].map { |path| @measured.grid.ratio("throughput", @measured.most(path), of: puma, over: go) }
          return unless io && work && level
          "By #{Units.counted(@measured.sizes.connections.last, "client")}, one process of Puma has #{Report::Figures.ratio(io)} of Go's throughput where requests only wait for the database, " \
            "#{Report::Figures.ratio(work)} where 30% of them is work in Ruby, and #{Report::Figures.ratio(level)} where Go needs as much CPU time for it: between the last two lies the language; what the last one lacks is the GVL's."
        end

        def advised = @advised ||= Accuracy.new(@measured.cells).advised

        def rule
          held, costs = advised.partition { |one| one.kept.fetch("100 / CPU %") >= HELD_RATIO }
          told = ["100 / CPU % has #{percent(HELD_RATIO)} or more of the best throughput at #{shares(held)} of IO"]
          told << "costs #{costs.map { |one| "#{percent(1 - one.kept.fetch("100 / CPU %"))} at #{percent(one.io_ratio)}" }.join(", ")}" if costs.any?
          "#{told.join(", and ")}. It gives the number of threads at which the GVL would be busy if requests never met; they do."
        end

        def shares(list) = list.empty? ? "no share" : Report::Figures.list(list.map { |one| percent(one.io_ratio) })

        def forecast
          worst = advised.reject { |one| one.kept.fetch("forecast").nil? }.min_by { |one| one.kept.fetch("forecast") } or return
          by = Advised::NAMES.to_h { |name| [name, advised.filter_map { |one| one.kept.fetch(name) }.min] }
          "The forecast's number of threads has #{percent(worst.kept.fetch("forecast"))} of the best throughput at worst; " \
            "#{by.except("forecast").map { |name, ratio| "#{name} #{percent(ratio)}" }.join(", ")}."
        end

        # What share of which request a session is follows from its cost.
        def session
          rounds = @measured.variants.waiting
          with, without = ["with a session", Variants::MANY.name].map { |name| rounds.estimate("cpu", name, rounds.loads.first) }
          cost_ns = with && without && with.value - without.value
          return unless cost_ns&.positive?
          "A session in a cookie takes about #{Units.duration(cost_ns)} of CPU (the medians' difference), which is 5% of a request that takes #{Units.duration(cost_ns * 19)} without it."
        end

        def percent(ratio) = format("%.0f%%", ratio * 100)
      end
    end
  end
end
