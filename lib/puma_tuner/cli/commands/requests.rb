# frozen_string_literal: true

module PumaTuner
  module CLI
    # Makes a request file of a server's log, or of an app's routes.
    class Commands::Requests < Command
      desc "Make a file of requests, as --requests takes it, out of a server's log or an app's routes"
      options :from, :log_format, :methods, :assets, :top, :keep_values, :instants, :seed, :routes, :limit, :exclude,
        :directory, :boot_limit,
        output: {about: "file for the requests", usual: "requests.txt in tmp/puma_tuner; the data file goes beside it"}
      renamed arrivals: :instants, format: :log_format
      example ["--from /var/log/nginx/access.log", "--from production.log --keep-values --instants instants.txt",
        "--routes                                   # in a Rails app's folder",
        "--routes --directory shop --exclude '/admin/*' --output requests.txt"]

      def call(from:, routes:, **options)
        if from && routes
          raise UsageError, "a log or the routes? --from and --routes are each a source of its own; leave one out"
        end
        return of_routes(**options.slice(:output, :limit, :exclude, :directory, :boot_limit)) if routes
        unless from
          raise UsageError, "which requests? Name a server's log with --from, or take an app's routes with --routes"
        end
        of_log(from:, **options.except(:limit, :exclude, :directory, :boot_limit))
      end

      private

      def of_routes(output:, limit:, exclude:, directory:, boot_limit:)
        directory ||= "."
        output = Results.path(output, "requests.txt", err:, directory:)
        Output.check_writable(output)
        asking = AppRoutes::Asking.new(directory:, limit:, excluded: exclude.to_a, boot_limit_s: boot_limit)
        answer = progress.stage("routes", nil) { |stage| asking.call { |done, total| stage.done(done, total) } }
        writer = AppRoutes::RequestWriter.new(answer, source: File.basename(File.expand_path(directory)))
        Output.write_file(output, writer.requests)
        data = "#{output.delete_suffix(".txt")}.csv" if writer.columns.any?
        Output.write_file(data, writer.data) if data
        out.puts(RoutesText.new(answer, writer, output:, data:).to_s)
      end

      def of_log(from:, output:, instants:, top:, keep_values:, **options)
        output = Results.path(output, "requests.txt", err:)
        Output.check_writable(output, instants)
        reader, summary = summary_of(from, **options)
        writer = AccessLog::RequestWriter.new(summary, groups_max: top, source: File.basename(from),
          values: keep_values)
        Output.write_file(output, writer.requests)
        data = data_file(writer, output, keep_values)
        Output.write_file(instants, writer.arrivals(Loads::REPLAYED_MAX)) if instants
        tell(reader, summary, writer, output, data, instants)
      end

      def summary_of(from, seed:, methods:, log_format:, assets:)
        http_methods = methods.map(&:upcase)
        unknown = http_methods - Load::RequestFile::METHODS
        if unknown.any?
          raise UsageError, "--methods #{unknown.join(",")}: choose from #{Load::RequestFile::METHODS.join(",")}"
        end
        reader = AccessLog::Reader.new(from, format: log_format, http_methods:, assets:)
        summary = AccessLog::Summary.new(reader, resolution_ns: reader.resolution_ns, seed:) do |path|
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
        other = " and #{Probe::Endpoint::OTHER}" if summary.other_count.positive?
        kinds = "#{figures.counted(summary.kinds_count, "kind")}#{other}"
        out.puts("#{figures.counted(summary.count, "request")} in #{kinds} (#{reader.format_name}), " \
          "#{mean}#{Units.rate(summary.busiest_per_s)} in the busiest minute")
        reader.left_out.each { |reason, count| out.puts("  left out: #{figures.count(count)} #{reason}") }
        if other
          out.puts("  counted as #{Probe::Endpoint::OTHER}: #{figures.count(summary.other_count)} of kinds too rare " \
            "to be told apart; #{figures.count(AccessLog::Summary::KINDS_MAX)} kinds and more are kept")
        end
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
