# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner requests: what a server was asked, out of its log.
    class Requests < Dry::CLI::Command
      # More than a replay takes.
      ARRIVALS_MAX = Loads::REPLAYED_MAX

      desc "Make a file of requests, as --requests takes it, out of a server's log"
      option :from, desc: "the log, packed by gzip or not: of nginx, Apache, Rails, or Amazon's load balancer"
      option :format, desc: "alb, combined or rails, default: as its first lines look"
      option :methods, type: :array, default: ["GET"], desc: "that count; what changes something is asked for again only where you say so"
      option :assets, type: :flag, default: false, desc: "count files of pictures, styles and scripts, too"
      option :top, default: "200", desc: "kinds of requests, the most frequent ones"
      option :keep_values, type: :flag, default: false, desc: "write the values of paths and queries into a data file; they may be somebody's names, searches and tokens"
      option :arrivals, desc: "file for the instants of the first #{ARRIVALS_MAX} requests, for predict --arrivals replay:FILE"
      option :output, desc: "file for the requests, default: tmp/puma_tuner/requests.txt; the data file goes beside it"
      TrafficOptions.declare(self, :seed)
      example ["--from /var/log/nginx/access.log", "--from production.log --keep-values --arrivals arrivals.txt"]

      def call(output: nil, from: nil, arrivals: nil, top: nil, seed: nil, keep_values: false, **options)
        raise UserMistake, "which log? Name it with --from" unless from
        output = Results.path(output, "requests.txt", err:)
        Output.check_writable(output, arrivals)
        reader, summary = summary_of(from, seed:, **options)
        writer = AccessLog::RequestWriter.new(summary, groups_max: Parse.count("--top", top, 1..1_000), source: File.basename(from), values: keep_values)
        Output.write_file(output, writer.requests)
        data = data_file(writer, output, keep_values)
        Output.write_file(arrivals, writer.arrivals(ARRIVALS_MAX)) if arrivals
        tell(reader, summary, writer, output, data, arrivals)
      end

      private

      def summary_of(from, seed:, methods: ["GET"], format: nil, assets: false, **)
        unknown = methods.map(&:upcase) - PumaTuner::Load::RequestFile::METHODS
        raise UserMistake, "--methods #{unknown.join(",")}: there is #{PumaTuner::Load::RequestFile::METHODS.join(",")}" if unknown.any?
        reader = AccessLog::Reader.new(from, format:, http_methods: methods.map(&:upcase), assets:)
        summary = AccessLog::Summary.new(reader.entries, resolution_ns: reader.resolution_ns, seed: Parse.count("--seed", seed, 0..2**31)) { |path|
          PumaTuner::Probe::Endpoint::Path.name(path)
        }
        [reader, summary]
      end

      def data_file(writer, output, keep_values)
        return unless keep_values && writer.columns.any?
        "#{output.delete_suffix(".txt")}.csv".tap { |path| Output.write_file(path, writer.data) }
      end

      def tell(reader, summary, writer, output, data, arrivals)
        figures = PumaTuner::Report::Figures
        out.puts("#{figures.counted(summary.count, "request")} in #{figures.counted(summary.groups.size, "kind")} (#{reader.format_name}), " \
          "#{"#{Units.rate(summary.rate_per_s)} a second on average, " if summary.rate_per_s}#{Units.rate(summary.busiest_per_s)} in the busiest minute")
        reader.left_out.each { |reason, count| out.puts("  left out: #{figures.count(count)} #{reason}") }
        out.puts("  left out: #{figures.count(writer.left_out_count)} of kinds beyond the first #{writer.size}") if writer.left_out_count.positive?
        out.puts("requests: #{File.expand_path(output)}", *("values: #{File.expand_path(data)}" if data), *("arrivals: #{File.expand_path(arrivals)}" if arrivals))
        out.puts("The log had lost the values of #{writer.filtered_columns.join(", ")} already (#{AccessLog::Summary::FILTERED}): put your own into #{data}.") if data && writer.filtered_columns.any?
        return if data || writer.columns.empty?
        out.puts("Values were taken out: give a CSV file with the columns #{writer.columns.join(",")} as --data, or take them from the log with --keep-values.")
      end
    end
  end
end
