# frozen_string_literal: true

require "json"

module PumaTuner
  module AppRoutes
    # Has an app's routes listed and asked for, in a process of its own with the app's Ruby and gems: whatever serves
    # the app elsewhere is not touched.
    class Asking
      SCRIPT = File.expand_path("inside.rb", __dir__)

      # To look at what the process has told.
      TICK_S = 0.2

      # For all of it, once the app is loaded. Each request has a limit of its own (inside/visits.rb).
      LIMIT_S = 1_800

      # @param directory [String] of the app
      # @param limit [Integer] values for a route, at most
      # @param excluded [Array<String>] patterns of paths, as File.fnmatch takes them
      # @param boot_limit_s [Numeric] for loading the app
      def initialize(directory:, limit:, excluded: [], boot_limit_s: 60)
        @directory = File.expand_path(directory)
        raise UsageError, "--directory #{directory}: there is no such folder" unless File.directory?(@directory)
        @options = {limit:, excluded:}
        @boot_limit_s = boot_limit_s
      end

      # @yieldparam done_count [Integer] routes that have been asked for
      # @yieldparam count [Integer] of all
      # @return [Answer]
      # @raise [MeasurementFailed] when the app can't be loaded, or its routes can't be listed
      def call(&told)
        Host::ScratchFolder.open do |folder|
          @told, @log = %w[routes.jsonl log].map { |name| File.join(folder, name) }
          File.write(@told, "")
          run(&told)
          answer(facts)
        end
      end

      private

      def run(&told)
        source, sink = IO.pipe
        child = Host::Child.new(environment, *words, in: source, out: [@log, "w"], err: %i[child out],
          chdir: @directory, unsetenv_others: true)
        child.start
        sink.write(JSON.generate({**@options, output: @told}))
        sink.close
        wait_for(child, &told)
      ensure
        child&.stop
        [source, sink].each { |io| io&.close }
      end

      def words
        gemfile = Host::AppGemfile.of(@directory, environment["BUNDLE_GEMFILE"])
        gemfile ? ["bundle", "exec", "ruby", SCRIPT] : [Gem.ruby, SCRIPT]
      end

      def environment = @environment ||= Host::UserEnvironment.of(@directory).except("RUBYOPT")

      def wait_for(child)
        deadline_s = Clock.now_s + @boot_limit_s
        until child.wait(TICK_S)
          app, *routes = facts
          if app
            deadline_s += LIMIT_S unless @loaded
            @loaded = true
            yield(routes.size, app[:count]) if block_given?
          end
          fail_for(*slow) if Clock.now_s > deadline_s
        end
      end

      def slow
        return ["had not answered all its routes after #{LIMIT_S} s", "Leave some out with --exclude."] if @loaded
        ["was not loaded within #{@boot_limit_s} s", "Give it longer with --boot-limit."]
      end

      # A line that is being written is not there yet.
      def facts
        whole = File.foreach(@told).select { |line| line.end_with?("\n") }
        whole.map { |line| JSON.parse(line, symbolize_names: true) }
      end

      def answer(facts)
        last = facts.last
        unless last && last[:type] == "end"
          fail_for("could not be loaded and asked for its routes", "Fix what its output says, then run this again.")
        end
        Answer.new(**facts.first.slice(:framework, :environment), tls: last[:tls],
          routes: facts[1..-2].map { |fact| route(**fact.except(:type)) },
          sign_in: last[:sign_in] && SignIn.new(**last[:sign_in]))
      end

      def route(template:, names:, rows:, status:, location:, cause: nil, detail: nil)
        Route.new(template:, names:, rows:, status:, location:, cause: cause&.to_sym, detail:)
      end

      # What is unlisted says so in its own words.
      def fail_for(what, advice)
        lines = File.exist?(@log) ? File.readlines(@log, chomp: true).map(&:scrub) : []
        unlisted = lines.join("\n")[/(?<=: ).*(?= \(PumaTuner::AppRoutes::RouteList::Unlisted\))/]
        raise UsageError, "#{unlisted}. From a server's log, --from writes the file." if unlisted
        raise MeasurementFailed.new("the app in #{@directory} #{what}. #{advice}",
          output: lines.reject { |line| line.match?(/\A\s+from /) }.last(8))
      end
    end
  end
end
