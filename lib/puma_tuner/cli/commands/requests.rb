# frozen_string_literal: true

module PumaTuner
  module CLI
    # Makes a request file of a server's log.
    class Commands::Requests < Command
      # More instants than this are more than a replay takes.
      ARRIVALS_MAX = Loads::REPLAYED_MAX

      desc "Make a file of requests, as --requests takes it, out of a server's log"
      options :from, :log_format, :methods, :assets, :top, :keep_values, :instants, :seed,
        output: {about: "file for the requests", usual: "requests.txt in tmp/puma_tuner; the data file goes beside it"}
      renamed arrivals: :instants, format: :log_format
      example ["--from /var/log/nginx/access.log", "--from production.log --keep-values --instants instants.txt"]

      def call(from:, output:, instants:, top:, keep_values:, **options)
        raise UsageError, "which log? Name it with --from" unless from
        output = Results.path(output, "requests.txt", err:)
        Output.check_writable(output, instants)
        reader, summary = summary_of(from, **options)
        writer = AccessLog::RequestWriter.new(summary, groups_max: top, source: File.basename(from),
          values: keep_values)
        Output.write_file(output, writer.requests)
        data = data_file(writer, output, keep_values)
        Output.write_file(instants, writer.arrivals(ARRIVALS_MAX)) if instants
        tell(reader, summary, writer, output, data, instants)
      end

      private

      def summary_of(from, seed:, methods:, log_format:, assets:)
        http_methods = methods.map(&:upcase)
        unknown = http_methods - Load::RequestFile::METHODS
        if unknown.any?
          raise UsageError, "--methods #{unknown.join(",")}: choose from #{Load::RequestFile::METHODS.join(",")}"
        end
        reader = AccessLog::Reader.new(from, format: log_format, http_methods:, assets:)
        summary = AccessLog::Summary.new(reader.entries, resolution_ns: reader.resolution_ns, seed:) do |path|
          Probe::Endpoint::Path.name(path)
        end
        [reader, summary]
      end

      def data_file(writer, output, keep_values)
        return unless keep_values && writer.columns.any?
        "#{output.delete_suffix(".txt")}.csv".tap { |path| Output.write_file(path, writer.data) }
      end

      def tell(reader, summary, writer, output, data, instants)
        figures = Report::Figures
        mean = "#{Units.rate(summary.rate_per_s)} a second on average, " if summary.rate_per_s
        out.puts("#{figures.counted(summary.count, "request")} in #{figures.counted(summary.groups.size, "kind")} " \
          "(#{reader.format_name}), #{mean}#{Units.rate(summary.busiest_per_s)} in the busiest minute")
        reader.left_out.each { |reason, count| out.puts("  left out: #{figures.count(count)} #{reason}") }
        if writer.left_out_count.positive?
          out.puts("  left out: #{figures.count(writer.left_out_count)} of kinds beyond the first #{writer.size}")
        end
        out.puts("requests: #{File.expand_path(output)}", *("values: #{File.expand_path(data)}" if data),
          *("instants: #{File.expand_path(instants)}" if instants))
        if data && writer.filtered_columns.any?
          out.puts("The log had lost the values of #{writer.filtered_columns.join(", ")} already " \
            "(#{AccessLog::Summary::FILTERED}): put your own into #{data}.")
        end
        return if data || writer.columns.empty?
        out.puts("Values were taken out: give a CSV file with the columns #{writer.columns.join(",")} as --data, " \
          "or take them from the log with --keep-values.")
      end
    end
  end
end
