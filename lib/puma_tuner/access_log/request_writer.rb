# frozen_string_literal: true

require "csv"

module PumaTuner
  module AccessLog
    # A summary as a file of requests (docs/formats/requests.md), with values as a data file, or without.
    class RequestWriter
      # @param summary [Summary]
      # @param groups_max [Integer] the most frequent ones are kept
      # @param source [String] the log's name, for a comment
      def initialize(summary, groups_max:, source:)
        @groups = summary.groups.first(groups_max)
        @left_out_count = summary.count - @groups.sum(&:count)
        @summary = summary
        @source = source
      end

      # @return [Array<String>] names that a data file must have values for
      def columns = @groups.flat_map { |group| group.values.keys }.uniq

      # @return [Integer] requests of kinds that are not in the file
      attr_reader :left_out_count

      # @return [Integer] kinds in the file
      def size = @groups.size

      # @return [String]
      def requests
        lines = @groups.map { |group| "#{weight(group).to_s.rjust(4)} #{group.http_method} #{group.template}#{" # its body is in no log: body:… must be added" unless group.http_method == "GET"}" }
        bodies, plain = lines.partition { |line| line.include?(" # ") }
        [
          "# From #{@source}: #{@summary.count} requests in #{@summary.groups.size} kinds; weights are their shares.",
          *("# Values are taken out; {{names}} are columns of a data file: #{columns.join(", ")}" if columns.any?),
          *plain, *bodies.map { |line| "##{line}" }
        ].join("\n") << "\n"
      end

      # Rows are as many as the column with most values has; shorter columns begin again.
      #
      # @return [String] CSV of the values that were in the log
      def data
        values = @groups.each_with_object({}) { |group, all| group.values.each { |name, list| all[name] = (all[name] || []) | list } }
        rows_count = values.values.map(&:size).max.to_i.clamp(0, Summary::ROWS_MAX)
        CSV.generate do |csv|
          csv << values.keys
          rows_count.times { |row| csv << values.values.map { |list| list[row % list.size] } }
        end
      end

      # @return [String] a time in seconds on each line, as `predict --arrivals replay:FILE` reads it
      def arrivals(count_max)
        @summary.arrivals_ns.first(count_max).map { |ns| format("%.6f\n", ns.fdiv(Units::NS_PER_S)) }.join
      end

      private

      # The most frequent is 1000 at most, the rarest 1.
      def weight(group)
        most = @groups.first.count
        (most <= Load::RequestFile::WEIGHTS.max) ? group.count : [(group.count * Load::RequestFile::WEIGHTS.max).fdiv(most).round, 1].max
      end
    end
  end
end
