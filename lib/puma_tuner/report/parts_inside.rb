# frozen_string_literal: true

module PumaTuner
  module Report
    # What a part of the budget was itself made of, where it was told apart.
    module PartsInside
      # name: as in the budget; of: the part it lies in; heading: of a column
      Part = Data.define(:name, :of, :heading, :meaning)

      IO = [
        Part.new(:db, Parts.find(:io), "db in io", "for a database"),
        Part.new(:redis, Parts.find(:io), "redis in io", "for Redis or memcached"),
        Part.new(:http, Parts.find(:io), "http in io", "for another HTTP server"),
        Part.new(:file, Parts.find(:io), "file in io", "for files")
      ].freeze

      ALL = [
        *IO,
        Part.new(:pool_wait, Parts.find(:lock), "pool in lock", "waiting for a connection pool"),
        Part.new(:gc_waited, Parts.find(:gvl_wait), "gc in gvlwait", "while another thread collected garbage")
      ].freeze

      # Of the wall time; less is not worth a sentence.
      LEAST_RATIO = 0.005

      module_function

      # @param budgets [Array<Probe::Budget>]
      # @return [Array<Part>] that one of them has enough of
      def seen(budgets, parts = ALL)
        parts.select { |part| budgets.any? { |budget| (budget.share_ratio(part.name) || 0) >= LEAST_RATIO } }
      end

      # @param budget [Probe::Budget]
      # @return [Array<String>] one for each part that has parts inside
      def sentences(budget)
        seen([budget]).group_by(&:of).filter_map do |of, parts|
          whole_ns = budget.part_ns(of.name)
          shares = parts.map { |part| "#{Units.percent(budget.part_ns(part.name).fdiv(whole_ns))} #{part.meaning}" } if whole_ns&.positive?
          "Of #{of.word}: #{Figures.list(shares)}." if shares
        end
      end

      # What a mean request's io was for, the longest first.
      #
      # @param budget [Probe::Budget] of so many requests
      # @return [String, nil] "db 12.0 ms, http 30.0 ms"; nil where nothing of note is known
      def io(budget, requests_count)
        parts = seen([budget], IO).sort_by { |part| -budget.part_ns(part.name) }
        parts.map { |part| "#{part.name} #{Units.duration(budget.part_ns(part.name).fdiv(requests_count))}" }.join(", ") if parts.any?
      end
    end
  end
end
