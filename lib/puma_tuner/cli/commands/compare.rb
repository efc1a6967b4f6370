# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    # Two logs of a server, for those without Prometheus.
    class Commands::Compare < Command
      # Smaller files are read in no time.
      TOLD_FROM_BYTES = 32 * Units::MIB

      desc "Compare two logs of a server, before and after a change: each endpoint, and what was asked for"
      argument :before, "access log with times, of nginx, Apache, Caddy, Rails, lograge, Kamal, Heroku or Amazon's " \
        "load balancer, gzipped or not; - reads standard input"
      argument :after, "another, best of the same hours of the day"
      options :verbose, :html, :log_format, :assets, :seen_from, :grouping, :seed, :output,
        top: {default: "10", about: "endpoints to compare, the most frequent first; more need larger differences"}
      example ["before.log after.log", "access.log.1.gz access.log --html comparison.html",
        "production.log.1 production.log --grouping config/initializers/puma_tuner.rb"]

      def call(before:, after:, output:, html:, seed:, top:, **options)
        Output.check_writable(output, html)
        ensure_two(before, after)
        logs = logs_of([before, after], **options.slice(:log_format, :assets, :grouping))
        seen_from = seen_from(logs, options[:seen_from])
        reading = {random: Random.new(seed), resolution_ns: logs.map { |log| log.format::TIME_RESOLUTION_NS }.max}
        logs.each { |log| read(log, seen_from:, **reading) }
        outcome = PumaTuner::Compare::Comparer.new(*logs, seen_from:, endpoints_max: top, **reading)
          .call(command: command(before, after, seed:, top:, **options))
        Output.write(outcome, **telling, path: output, html:)
      end

      private

      def ensure_two(before, after)
        same = before == after || (File.file?(before) && File.file?(after) && File.identical?(before, after))
        return unless same
        raise UsageError, "#{before} and #{after} are the same log; name one of before the change, and one of after it"
      end

      def logs_of(paths, log_format:, assets:, grouping:)
        grouping &&= grouping_of(grouping)
        paths.map { |path| PumaTuner::Compare::Log.new(path, format: log_format, assets:, grouping:) }
      end

      # The app's own names of endpoints, out of the file in which it tells them to the probe.
      def grouping_of(path)
        load(File.expand_path(path))
        Probe.grouping or raise UsageError, "--grouping #{path}: it does not call PumaTuner.group_endpoints"
      rescue LoadError, SyntaxError, StandardError => error
        raise if error.is_a?(UsageError)
        raise UsageError, "--grouping #{path}: #{error.message.lines.first&.chomp} (#{error.class}). Give a file " \
          "that calls PumaTuner.group_endpoints and needs nothing else of the app."
      end

      # The app's own time, where both logs have it: a slow client is no change of the app.
      def seen_from(logs, wanted)
        names = PumaTuner::Compare::Log::SEEN_FROM
        if wanted && !names.include?(wanted)
          raise UsageError, "--seen-from #{wanted}: choose one of #{names.join(", ")}"
        end
        told = logs.map(&:seen_from)
        both = told.inject(:&)
        return both.first if both.any? && wanted.nil?
        return wanted if both.include?(wanted)
        has = logs.zip(told).map { |log, all| "#{log.path}: #{all.join(", ")}" }.join("; ")
        raise UsageError, "the logs do not both tell the same time#{" --seen-from #{wanted}" if wanted} (#{has}); " \
          "compare logs of one format, or choose another --seen-from"
      end

      def read(log, **reading)
        return log.read(**reading) unless log.total_bytes.nil? || log.total_bytes >= TOLD_FROM_BYTES
        progress.stage("read #{log.path}", nil) do |stage|
          log.read(**reading) do |done_bytes, lines_count|
            next stage.done(done_bytes * 100 / log.total_bytes, 100) if done_bytes
            stage.note("#{Report::Figures.count(lines_count)} lines") if (lines_count % 1_000_000).zero?
          end
        end
      end

      def command(before, after, top:, seed:, log_format:, assets:, seen_from:, grouping:)
        given = {"--log-format" => log_format, "--seen-from" => seen_from, "--grouping" => grouping,
                 "--top" => top.to_s, "--seed" => seed.to_s}.compact.flatten
        Shellwords.join(["puma_tuner", "compare", *[before, after].map { |path| File.basename(path) }, *given,
          *("--assets" if assets)])
      end
    end
  end
end
