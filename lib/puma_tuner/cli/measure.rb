# frozen_string_literal: true

require "timeout"

module PumaTuner
  module CLI
    # puma_tuner measure: around any command that starts Puma.
    class Measure < Dry::CLI::Command
      include AppOptions
      include RecordingOptions

      desc "Tell where a running app's time goes: around any command that starts Puma, with nothing edited"
      option :load, type: :boolean, default: false, desc: "send requests to it (see --path, --requests); otherwise its own traffic is measured"
      TrafficOptions.declare(self, :rate, :arrivals, :think, :reuse)
      option :duration, desc: "seconds to measure, default: 10 with --load, until Ctrl-C without"
      option :warmup, default: "2", desc: "with --load, seconds of load before the measurement, at least; it begins when the app is steady, or after ten times as long"
      option :locks, type: :boolean, desc: "watch locks and pools; default: with --load, and not around your own traffic"
      option :output, desc: "file for the observation, default: observation.json in the app's tmp/puma_tuner"
      option :html, desc: "file for an HTML report"
      example [
        "-- bundle exec puma                      # until Ctrl-C, whatever requests come",
        "--load --path /articles config.ru        # ten seconds of our own requests",
        "--load --path /articles --settings 1x1,2x5 config.ru   # today's settings, and briefly these two",
        "--load --rate 50 --path /articles config.ru   # 50 a second, whether or not there are answers"
      ]

      def call(app: [], output: nil, html: nil, load: false, duration: nil, **options)
        command = command_of(app:, **options)
        output = Results.path(output, "observation.json", err:, app:, **options)
        Output.check_writable(output, html)
        refuse_without_load(**options) unless load
        observation = nil
        observation = load ? measure_under_load(command, duration || "10", **options) { |known| observation = known } : measure_own_traffic(command, duration, **options)
        Output.keep(observation, output, out:, err:, html:)
      rescue Interrupt
        raise unless observation
        Output.keep(observation, output, out:, err:, html:)
        exit(130)
      end

      private

      OF_LOAD = %i[rate think reuse requests data connections settings single_recording].freeze
      private_constant :OF_LOAD

      def refuse_without_load(path:, **options)
        given = OF_LOAD.find { |name| options[name] } || (:path if path != TrafficOptions::DEFAULTS[:path])
        raise UserMistake, "--#{given.to_s.tr("_", "-")} is of requests that we send; add --load" if given
      end

      # @yieldparam observation [PumaTuner::Probe::Observation] as far as it is known
      def measure_under_load(command, duration, warmup:, locks: true, **options, &kept)
        times = PumaTuner::Measure::LoadedWindow::Times.new(warmup_s: Parse.seconds("--warmup", warmup), duration_s: Parse.seconds("--duration", duration))
        plan = PumaTuner::Measure::Recordings::Plan.new(command:, traffic: traffic_of(**options), today: nil, settings: settings_of(**options),
          workers: GridOptions.workers_here.to_a, times:, boot_limit_s: boot_limit_s(**options), limit_s: nil, locks:)
        recordings = PumaTuner::Measure::Recordings.new(plan, kept:)
        Progress.new(err).stage("measure", nil) { |stage| recordings.call { |what, left_s| stage.note(what, left_s) } }
      end

      # The server keeps its own address and its own output.
      def measure_own_traffic(command, duration, locks: false, **options)
        server_options = {bind: nil, measure: true, locks:, echo: err, boot_limit_s: boot_limit_s(**options)}
        duration_s = duration && Parse.seconds("--duration", duration, limit: 86_400)
        Host::ServerProcess.run(command, **server_options) do |server|
          collector = PumaTuner::Measure::Collector.new(server, command: command.to_s)
          collector.begin_window
          err.puts("puma_tuner: measuring #{duration_s ? "for #{duration_s} s" : "until Ctrl-C"}")
          wait_for_end(server, duration_s)
          collector.end_window
        end
      end

      def wait_for_end(server, duration_s)
        Timeout.timeout(duration_s) { server.wait }
      rescue Timeout::Error, Interrupt
        err.puts("puma_tuner: stopping the server")
      end
    end
  end
end
