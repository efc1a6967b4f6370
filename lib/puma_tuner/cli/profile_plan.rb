# frozen_string_literal: true

module PumaTuner
  module CLI
    # The words of `profile` as a run: of what, by what, how.
    class ProfilePlan
      TIMES = 20

      # @param options [Hash] of the command
      # @param output [String] beside which the profiler's files go
      # @param progress [Progress]
      # @param err [IO] where a server that is only looked at prints
      def initialize(options, output:, progress:, err:)
        @options = options
        @output = output
        @progress = progress
        @err = err
      end

      # @return [Array(Profile::Costs, String)] and why it ended before its time, nil when it did not
      def call
        refuse_contradictions
        return [read, nil] if option(:read)
        return [block_costs, nil] if option(:block)
        return [request_costs, nil] if option(:request) || option(:url)
        server_costs
      end

      private

      def option(name) = @options[name]

      def refuse_contradictions
        ways = %i[read block request url outliers].select { |name| option(name) }
        if ways.size > 1
          raise UsageError, "--#{ways.first} and --#{ways[1]} can't be combined; leave one out"
        end
        if option(:outliers) && !profiler::STAMPED
          raise UsageError, "--outliers needs a profiler that says when and where each sample was taken: vernier"
        end
        if option(:token) && !option(:url)
          raise UsageError, "--token works with --url only; add --url, or leave out --token"
        end
        inside = (ways & %i[block request url]).first
        if inside && profiler::OUTSIDE
          raise UsageError, "#{profiler::NAME} profiles whole processes from outside, and can't do --#{inside}; " \
            "choose another profiler with --with"
        end
      end

      # StackProf has never ended a server here; Vernier can (docs/reference/profilers.md), but only it can tell
      # requests apart.
      def profiler = @profiler ||= Profile.profiler(option(:with) || (option(:outliers) ? "vernier" : "stackprof"))

      def mode = profiler.known_mode(option(:mode))

      def settings(scope, token: nil)
        Probe::Profiling::Settings.new(profiler: profiler::NAME, mode:, scope:, token:, folder: native_folder,
          paths: Profile::Library.paths_of(profiler), interval_us: option(:interval))
      end

      # Its files from an earlier run with the same name would be taken for this one's.
      def native_folder
        @native_folder ||= File.expand_path("#{Time.now.strftime("%Y%m%d-%H%M%S")}-#{Process.pid}",
          "#{@output.delete_suffix(".json")}.native")
      end

      def read
        paths = option(:read).split(",")
        missing = paths.find { |path| !File.file?(path) }
        if missing
          raise UsageError, "cannot read #{missing}: there is no such file. " \
            "Give the path of a profiler's own file."
        end
        Profile::Reading.new(profiler:, mode:, target: paths.join(", "), command: Host::Masking.own_command,
          whole: option(:whole))
          .call(paths, unknown: [Unknown.of(:work_count, :not_in_file)])
      end

      def block_costs
        run = Profile::BlockRun.new(file: File.expand_path(option(:block)),
          command: Options::App.block_command(option(:block)), settings: settings("window"), profiler:,
          name: option(:name), warmup_s:, duration_s:, iterations_count:, boot_limit_s:)
        Block::UserFile.ensure_there(option(:block))
        @progress.stage("profile", run.expected_s) { run.call }
      end

      def iterations_count
        option(:iterations) || (1 if profiler::TRACING)
      end

      def request_costs
        times = option(:times) || (profiler::TRACING ? 1 : TIMES)
        return of_url(times) if option(:url)
        run = Profile::RequestRun.new(profiler:, settings: settings("request", token: SecureRandom.hex(16)), times:)
        @progress.stage("profile", nil) { run.of_command(app.command, option(:request), boot_limit_s:) }
      end

      def of_url(times)
        token = option(:token) or raise UsageError,
          "--url needs the --token that the app's PumaTuner::ProfilerMiddleware knows"
        Profile::RequestRun.new(profiler:, settings: settings("request", token:), times:).of_url(option(:url))
      end

      def server_costs
        run = Profile::ServerRun.new(command: app.command,
          traffic: (Options::Traffic.from(@options).traffic if option(:load)),
          settings: settings(option(:outliers) ? "outliers" : "window"), profiler:, warmup_s:, duration_s:,
          boot_limit_s:,
          topology: option(:topology), echo: (@err unless option(:load)))
        @progress.stage("profile", run.expected_s) { run.call }.then { |taken| [taken.costs, taken.broken] }
      end

      def app = Options::App.from(@options)

      def warmup_s = option(:warmup)

      def duration_s = option(:duration)

      def boot_limit_s = option(:boot_limit)
    end
  end
end
