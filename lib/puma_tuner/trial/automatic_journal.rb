# frozen_string_literal: true

require "json"

module PumaTuner
  module Trial
    # What `auto` saw and did, as lines of JSON, each written at once: each situation with what was decided, each look
    # of a trial on one worker, and each look at all of them after a step. What it did follows from what it saw, and can
    # be computed anew.
    class AutomaticJournal < JournalLines
      KIND = "auto_journal"

      # One that was read.
      #
      # mode: of Automatic::MODES; rounds: Array<Round>
      Read = Data.define(:mode, :cool_down_s, :rounds) do
        # @return [Array<Automatic::Told>] computed anew
        # @raise [InvalidMeasurement] where it is not what was told then
        def replay
          rounds.map do |round|
            again = round.again(mode, cool_down_s)
            next round.told.with(statement: again) if again == round.told.statement
            raise InvalidMeasurement, "after #{round.told.at_s.round} s this version says #{again.kind}, where " \
              "#{round.told.statement.kind} was said"
          end
        rescue *Document::MISFITS, ZeroDivisionError => error
          raise InvalidMeasurement, "what the journal holds does not fit together (#{error.message.lines.first&.chomp})"
        end
      end

      # told: Automatic::Told, as it was then; plan: of a trial before it, or of watching after a step, nil without one;
      # looks: its readings, each with what was decided; previous: Round, nil of the first
      Round = Data.define(:told, :plan, :looks, :previous) do
        # @return [Array<Reading>]
        def readings = looks.map(&:first)

        # @return [Statement] that follows from what was seen
        def again(mode, cool_down_s)
          return watched_again if plan&.all?
          return told.statement unless told.situation
          step = Step.of(told.situation, cool_down_s:)
          return step unless step.kind == :step && mode != :observe
          Step.outcome(step, mode:, plan:, readings:, ended: ended_again)
        end

        private

        def watched_again
          Step.watched(plan, ended_again(before: Decision.baseline(previous.plan, previous.readings)))
        end

        # Why a server has gone no reading tells.
        def ended_again(before: nil)
          decided = readings.each_index.map { |place| Decision.of(plan, readings.first(place + 1), before:) }
          other = decided.zip(looks).index { |now, (_, then_)| now != then_ }
          if other
            raise InvalidMeasurement, "after #{told.at_s.round} s this version ends a trial of " \
              "#{plan.threads_count} threads otherwise"
          end
          decided.compact.last || recorded_end
        end

        def recorded_end
          ended = told.statement.facts["ended"] or return
          ended = Statement.from_document(ended)
          ended unless Decision::KINDS.include?(ended.kind)
        end
      end

      # @param path [String]
      # @return [Read] of a whole journal, or of one that was cut short
      # @raise [UsageError]
      def self.read(path)
        Journal.parsed_lines(path, KIND) do |first, rest|
          plan, looks, rounds = nil, [], []
          rest.each do |line|
            plan = Plan.from_document(line["plan"]) if line["plan"]
            looks << [Reading.from_document(line["reading"]), Journal.statement(line["decision"])] if line["reading"]
            next unless line["statement"]
            rounds << Round.new(told: told(line), plan:, looks: looks.freeze, previous: rounds.last)
            plan, looks = nil, []
          end
          Read.new(mode: first.fetch("mode").to_sym, cool_down_s: first.fetch("cool_down_s"), rounds: rounds.freeze)
        end
      end

      def self.told(line)
        situation = line["situation"]
        Automatic::Told.new(at_s: line.fetch("at_s"), threads_count: line.fetch("threads_count"),
          statement: Journal.statement(line["statement"]), situation: situation && Situation.from_document(situation))
      end
      private_class_method :told

      # @param mode [Symbol]
      # @return [void]
      def begin(mode:, cool_down_s:, started_at:, server_pid:)
        write(kind: KIND, format: Journal::FORMAT, tool_version: VERSION, started_at:, server_pid:, mode:, cool_down_s:)
      end

      # @param plan [Plan] of a trial, or of watching all workers, that begins
      # @return [void]
      def plan(plan) = write(plan: plan.to_document)

      # @param told [Automatic::Told]
      # @return [void]
      def told(told)
        write(at_s: told.at_s, threads_count: told.threads_count, statement: told.statement.to_document,
          situation: told.situation&.to_document)
      end
    end
  end
end
