# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # A summary as a file of requests (docs/reference/requests.md), with values as a data file, or without.
    class RequestWriter
      PLACE = /\{\{(\w+)\}\}/
      BODILESS = %w[GET HEAD].freeze

      # @param summary [Summary]
      # @param groups_max [Integer] the most frequent ones are kept
      # @param source [String] the log's name, for a comment
      # @param values [Boolean] whether the log's values are written, too; each kind then has columns of its own, as
      #   what one asked for may be nowhere for another
      def initialize(summary, groups_max:, source:, values: false)
        @groups = summary.groups.first(groups_max)
        @left_out_count = summary.count - @groups.sum(&:count)
        @groups = apart(@groups) if values
        @summary = summary
        @source = source
      end

      # @return [Array<String>] names that a data file must have values for
      def columns = @groups.flat_map(&:names).uniq

      # @return [Array<String>] columns whose values had been taken out of the log already
      def filtered_columns = @groups.select { |group| group.rows.empty? }.flat_map(&:names).uniq

      # @return [Integer] requests of kinds that are not in the file
      attr_reader :left_out_count

      # @return [Integer] kinds in the file
      def size = @groups.size

      # @return [String]
      def requests
        lines = @groups.map do |group|
          lacks = " # its body is in no log: body:… must be added" unless BODILESS.include?(group.http_method)
          "#{weight(group).to_s.rjust(4)} #{group.http_method} #{group.template}#{lacks}"
        end
        bodies, plain = lines.partition { |line| line.include?(" # ") }
        kinds = "#{@summary.kinds_count} kinds"
        kinds << " and #{Probe::Endpoint::OTHER}" if @summary.other_count.positive?
        [
          "# From #{@source}: #{@summary.count} requests in #{kinds}; weights are their shares.",
          *("# Values are taken out; {{names}} are columns of a data file: #{columns.join(", ")}" if columns.any?),
          *plain, *bodies.map { |line| "##{line}" }
        ].join("\n") << "\n"
      end

      # @return [String] CSV of the values that were in the log
      def data
        groups = @groups.select { |group| group.names.any? }
        rows = groups.map { |group| group.rows.empty? ? [group.names.map { Summary::FILTERED }] : group.rows }
        Load::DataFile.csv(groups.flat_map(&:names), rows)
      end

      # @return [String] a time in seconds on each line, as `predict --arrivals replay:FILE` reads it
      def arrivals(count_max)
        @summary.arrivals_ns.first(count_max).map { |ns| format("%.6f\n", ns.fdiv(Units::NS_PER_S)) }.join
      end

      private

      # The first kind that has a name keeps it.
      def apart(groups)
        names = Load::FreeNames.new
        groups.map do |group|
          own = group.names.to_h { |name| [name, names.take(name)] }
          group.with(template: group.template.gsub(PLACE) { "{{#{own.fetch($1)}}}" }, names: own.values)
        end
      end

      # The most frequent is 1000 at most, the rarest 1.
      def weight(group)
        most = @groups.first.count
        if most <= Load::RequestFile::WEIGHTS.max
          group.count
        else
          [(group.count * Load::RequestFile::WEIGHTS.max).fdiv(most).round, 1].max
        end
      end
    end
  end
end
