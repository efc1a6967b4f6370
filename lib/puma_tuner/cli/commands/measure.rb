# frozen_string_literal: true

require "timeout"

module PumaTuner
  module CLI
    # Around any command that starts Puma.
    class Commands::Measure < Command
      desc "Show where a running app's time goes, around any command that starts Puma; nothing of it is edited",
        hint: Options::App::HINT
      tells_of_an_app
      argument :app, Options::App::ABOUT, required: false, many: true
      options :verbose, :path, :requests, :rate, :load, :html, :directory, :boot_limit, :data, :arrivals, :think,
        :reuse, :seed, :settings, :lanes, connections: Options::Traffic::USUAL_CONNECTIONS,
        duration: {usual: "10 with --load and 6 more at half the load, until Ctrl-C without", limits: ..86_400},
        warmup: "2",
        locks: {usual: "with --load, and not around your own traffic"},
        output: {usual: "observation.json in the app's tmp/puma_tuner"}
      example [
        "-- bundle exec puma                      # until Ctrl-C, whatever requests come",
        "--load --path /articles                  # ten seconds of our own requests",
        "--load --path /articles --settings 1x1,2x5   # today's settings, and briefly these two",
        "--load --path /articles --lanes --settings 1x3   # what each thread does when, with 5 threads and with 3",
        "--load --rate 50 --path /articles config.ru   # 50 a second, whether or not responses have come"
      ]

      DURATION_S = 10

      def call(output:, html:, load:, **options)
        app = Options::App.from(options)
        command = app.command
        output = Results.path(output, "observation.json", err:, **options)
        Output.check_writable(output, html)
        refuse_without_load(options) unless load
        observation = nil
        observation = if load
          measure_under_load(command, **options) { |known| observation = known }
        else
          measure_own_traffic(command, **options)
        end
        Output.write(observation, **telling, path: output, html:)
      rescue Interrupt
        err.puts("\npuma_tuner: nothing was recorded") unless observation
        raise unless observation
        Output.write(observation, **telling, path: output, html:)
        exit(130)
      end

      private

      OF_LOAD = %i[path rate think reuse requests data connections settings].freeze
      private_constant :OF_LOAD

      def refuse_without_load(options)
        flag = given(OF_LOAD, options) or return
        raise UsageError, "#{flag} is for requests that puma_tuner sends; add --load"
      end

      # @yieldparam observation [Probe::Observation] as far as it is known
      def measure_under_load(command, warmup:, duration:, locks:, lanes:, boot_limit:, **options, &kept)
        times = Measure::LoadedWindow::Times.new(warmup_s: warmup, duration_s: duration || DURATION_S)
        plan = Measure::Recordings::Plan.new(command:, traffic: Options::Traffic.from(options).traffic, today: nil,
          settings: options[:settings], workers: Options::Grid.workers_here.to_a, times:,
          boot_limit_s: boot_limit, limit_s: nil, locks: locks != false, lanes:)
        recordings = Measure::Recordings.new(plan, kept:)
        progress.stage("measure", nil) { |stage| recordings.call { |what, left_s| stage.note(what, left_s) } }
      end

      # The server keeps its own address and its own output.
      def measure_own_traffic(command, duration:, locks:, lanes:, boot_limit:, **)
        server_options = {bind: nil, measure: true, meter: true, locks: locks == true, echo: err,
                          boot_limit_s: boot_limit}
        Host::ServerProcess.run(command, **server_options) do |server|
          collector = Measure::Collector.new(server, command: command.to_s, folder: command.folder_name,
            lanes:)
          collector.begin_window
          err.puts("puma_tuner: measuring #{duration ? "for #{duration} s" : "until Ctrl-C"}")
          wait_for_end(server, duration)
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
