# frozen_string_literal: true

module PumaTuner
  module CLI
    # Another number of threads on a server that serves.
    class Commands::Trial < Command
      desc "Try another number of threads on a running server: one worker at a time has it, and its fellows are what " \
        "it is held against; undone when it does harm, and at the end"
      argument :server, Options::SERVER, required: false
      options :for, :journal, :replay, :html, :output, threads: {
        type: :count, takes: "N", default: nil, about: "threads to try", limits: 1..Probe::Resize::THREADS_MAX
      }
      example [
        "--threads 3 --for 10m             # on the only server that allows it",
        "4711 --threads 8 --journal trial.jsonl",
        "/srv/shop --threads 3             # by folder; in a container by process id",
        "--replay trial.jsonl              # the same decisions and outcome, computed anew"
      ]

      # @param named [String, nil] as `top` understands it
      # @return [PumaTuner::Trial::Server]
      # @raise [UsageError] where there is none, or several
      def self.server(named)
        found = PumaTuner::Top::Servers.new.find(named)
        PumaTuner::Trial::Server.new(found, pids: PumaTuner::Top::Processes.new(found.pid))
      end

      # @param path [String, nil]
      # @yieldparam file [File, nil]
      # @return [Object] the block's
      # @raise [UsageError] where a journal is there already: it may be all that tells what was tried
      def self.with_journal(path)
        return yield(nil) unless path
        raise UsageError, "#{path} is there already; name another file for --journal" if File.size?(path)
        File.open(path, "w", 0o600) { |file| yield file }
      end

      def call(server:, threads:, journal:, replay:, output:, html:, **options)
        Output.check_writable(output, html, journal)
        return tell(replayed(replay), output, html) if replay
        raise UsageError, "name the number of threads to try: --threads 3" unless threads
        outcome = try(Commands::Trial.server(server), threads, options.fetch(:for), journal)
        tell(outcome, output, html)
        raise Exit.new(130) if outcome.ended&.kind == :interrupted
        raise Exit.new(1) if outcome.outcome == :harmful
        raise Exit.new(3) if outcome.ended
      end

      private

      # Somebody may have changed the journal since, so it is tried whether its outcome can be shown.
      #
      # @return [PumaTuner::Trial::Outcome]
      def replayed(path)
        Document.fitting(path) do
          PumaTuner::Trial::Journal.read(path).replay.tap { |outcome| PumaTuner::Report.render(outcome, format: :text) }
        end
      end

      def try(server, threads_count, duration_s, journal)
        plan = PumaTuner::Trial::Plan.for(server, server.fresh_states, threads_count:, duration_s:)
        self.class.with_journal(journal) do |file|
          run = PumaTuner::Trial::Run.new(server, plan, journal: PumaTuner::Trial::Journal.new(file), clock:)
          progress.stage("trial", plan.duration_s) do |stage|
            run.call { |reading, period| note(stage, plan, reading, period) }
          end
        end
      end

      # Once for each period.
      def note(stage, plan, reading, period)
        return if period == @told_period
        @told_period = period
        canary = reading.worker(plan.canary(period))
        who = canary&.worker_index ? "worker #{canary.worker_index} has" : "it has"
        count = canary ? plan.threads_count : plan.configured.last
        stage.note("period #{period + 1} of #{plan.periods_count}: #{who} #{Units.counted(count, "thread")}")
      end

      def tell(outcome, output, html) = Output.write(outcome, **telling, path: output, html:)
    end
  end
end
