# frozen_string_literal: true

module PumaTuner
  module CLI
    # A running server's number of threads, found while it serves.
    class Commands::Auto < Command
      desc "Forecast a running server at other numbers of threads, again and again, and say, try or do what is " \
        "surely better; at the end everything is undone"
      argument :server, Options::SERVER, required: false
      options :act, :cool_down, :journal, :replay, for: {default: nil, usual: "until Ctrl-C"}
      example [
        "                                  # says what it would do, and changes nothing",
        "--act trial --cool-down 2m        # tries each step on one worker, and undoes it",
        "4711 --act auto --for 8h          # keeps to what did no harm, until its end",
        "--replay auto.jsonl               # the same decisions, computed anew from its journal"
      ]

      MODES = PumaTuner::Trial::Automatic::MODES

      def call(server:, act:, cool_down:, journal:, replay:, **options)
        return replayed(replay).each { |line| out.puts(line) } if replay
        mode = MODES.find { |one| one.name == act } or
          raise UsageError, "--act #{act}: write one of #{MODES.join(", ")}"
        Output.check_writable(journal)
        server = Commands::Trial.server(server)
        Commands::Trial.with_journal(journal) do |file|
          @automatic = PumaTuner::Trial::Automatic.new(server, mode:, cool_down_s: cool_down, clock:,
            journal: PumaTuner::Trial::AutomaticJournal.new(file))
          watch(options[:for])
        end
      end

      private

      def watch(duration_s)
        @automatic.call(duration_s:) { |told| tell(told) }
        say_last
      rescue Interrupt, Error
        say_last # what it found in hours is worth as much
        raise
      end

      # Somebody may have changed the journal since.
      #
      # @return [Array<String>]
      def replayed(path)
        Document.fitting(path) { PumaTuner::Trial::AutomaticJournal.read(path).replay.map { |told| line(told) } }
      end

      def line(told) = "#{told.at_s.round} s: #{PumaTuner::Report::TrialWords.step(told.statement)}"

      def tell(told)
        out.puts(line(told))
        out.flush
      end

      def say_last
        count = @automatic.threads_count or return
        out.puts(["It ended with #{Units.counted(count, "thread")}.", *keeping(count),
          "All processes get what is configured again."].join(" "))
      end

      def keeping(count)
        return if count == @automatic.configured.last
        threads = PumaTuner::Trial::Outcome.threads_kept(@automatic.configured, count)
        ["To keep them: threads #{threads.join(", ")} in config/puma.rb.",
          *PumaTuner::Report::TrialWords.measured(@automatic.given)]
      end
    end
  end
end
