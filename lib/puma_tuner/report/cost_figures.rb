# frozen_string_literal: true

module PumaTuner
  module Report
    # A profile's numbers and places as people read them, the same in every format.
    class CostFigures
      # What each unit is called above a column.
      HEADINGS = {"ns" => "time", "objects" => "objects", "bytes" => "bytes", "events" => "events"}.freeze

      # Gems are told by name and version, or by name and commit, Ruby's own library as such; what is left is the app's. Ruby's
      # own folder holds gems, too, so that a path is asked whether it is a gem's first.
      GEM = %r{/gems/([^/]+-(?:\d[^/]*|\h{12}))/(.+)\z}
      RUBY = %r{/lib/ruby/(?:[^/]+/)?\d+\.\d+\.\d+/(.+)\z}

      # @param costs [Profile::Costs]
      def initialize(costs)
        @costs = costs
      end

      # @param amount [Numeric, nil] in that unit
      # @return [String]
      def self.amount(unit, amount)
        return "-" unless amount
        case unit
        when "ns" then Units.duration(amount)
        when "bytes" then (amount < 10_240) ? "#{amount.round} B" : "#{Units.significant(amount / 1024.0)} KiB"
        else (amount == amount.round) ? Figures.count(amount.round) : Units.significant(amount)
        end
      end

      # @param path [String, nil]
      # @param line [Integer, nil]
      # @return [String] "graphql-2.6.14/lib/graphql/schema.rb:12"; "C" of what has no file
      def self.place(path, line = nil)
        return "C" unless path
        short = case path
        when GEM then "#{$1}/#{$2}"
        when RUBY then "ruby/#{$1}"
        else path.delete_prefix("#{Dir.pwd}/")
        end
        [short, line].compact.join(":")
      end

      # @return [Symbol] whose code it is: :app, :gem, :ruby (its library, and all that is written in C)
      def self.owner(path)
        return :ruby if path.nil? || path.start_with?("<internal")
        return :gem if GEM.match?(path)
        RUBY.match?(path) ? :ruby : :app
      end

      # @return [String] of one request where that is known, else of the whole
      def amount(amount) = CostFigures.amount(@costs.unit, @costs.per_work(amount) || amount)

      # @return [String] "time per request", "objects in all"
      def amount_heading = "#{HEADINGS.fetch(@costs.unit, @costs.unit)}#{per}"

      # @return [String] " per request", or " in all"
      def per = @costs.work_count&.positive? ? "/#{@costs.work_noun}" : " in all"

      # @return [String] percent with what sampling leaves open: "12.3 (11.8–12.9)"
      def share(amount)
        estimate = @costs.share(amount)
        return Figures.share(@costs.share_ratio(amount)) unless estimate
        "#{Figures.share(estimate.value)} (#{Figures.share(estimate.low)}–#{Figures.share(estimate.high)})"
      end

      # @return [String] calls of one request where that is known
      def calls(count)
        return "-" unless count
        number = @costs.per_work(count) || count
        (number == number.round) ? Figures.count(number.round) : Units.significant(number)
      end

      # @return [String] what was looked at, by what and for how long
      def sentence
        [
          "#{@costs.profiler} #{@costs.profiler_version}, #{@costs.mode}", how_much,
          ("over #{Units.duration(@costs.duration_ns)}" if @costs.duration_ns),
          (Figures.counted(@costs.work_count, @costs.work_noun) if @costs.work_count)
        ].compact.join("; ")
      end

      # @return [Array<String>] sentences
      def notes
        left_out = @costs.left_out_amount
        [
          ("Left out: #{CostFigures.amount(@costs.unit, left_out)} of threads that wait for work, or are ours." if left_out.positive?),
          ("The profiler lost #{Figures.counted(@costs.lost_count, "sample")}." if @costs.lost_count&.positive?),
          (@costs.traced? ? "Every call was followed, which itself takes time, most where most is called: trust the counts, and compare times only with each other." : nil),
          *Unknowns.of(@costs.unknown).map { |name, reason| "Not known: #{name}, as #{reason}." }
        ].compact
      end

      private

      def how_much
        return "every call followed" if @costs.traced?
        "#{Figures.counted(@costs.samples_count, "sample")}#{" of #{Units.duration(@costs.interval_ns)}" if @costs.interval_ns}"
      end
    end
  end
end
