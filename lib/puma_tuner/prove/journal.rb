# frozen_string_literal: true

require "json"

module PumaTuner
  module Prove
    # Attempts at rounds as they are made, one a line, so that nothing is lost when a run is interrupted, and the
    # analysis can be done again. The first line says what was planned: a run can only go on with the same plan. Another
    # tells of trials that were made shorter, and the last what a run that came to its end had ended with.
    class Journal
      # trials: [Trial], the disturbed ones void as they were then; remarks: [Statement]; stopped_because: Statement
      Ended = Document.define(:trials, :remarks, :stopped_because,
        nested: {trials: [Trial], remarks: [Statement], stopped_because: Statement}) do
        # What has no reason to be over is not, and another run would go on.
        def self.from_document(fields)
          super.tap { |ended| raise KeyError, "#{told_name} has no stopped_because" unless ended.stopped_because }
        end
      end

      # The last line may be cut short, by what interrupted the run.
      #
      # @param path [String]
      # @return [Array<Object>] what its lines hold
      # @raise [SystemCallError]
      def self.values(path)
        AtomicFile.read(path).lines.filter_map do |line|
          JSON.parse(line)
        rescue JSON::ParserError
          nil
        end
      end

      # Ends a last line that was cut short: what is written next would be part of it, and be lost with it.
      #
      # @param path [String]
      # @return [void]
      # @raise [SystemCallError]
      def self.end_line(path)
        File.open(path, "a+b") do |file|
          file.write("\n") unless file.size.zero? || file.pread(1, file.size - 1) == "\n"
        end
      end

      # @return [String]
      attr_reader :path

      # @return [Array<Trial>] of earlier runs
      attr_reader :trials

      # @return [TrialRunner::Times, nil] of these, where they are not as they were planned
      attr_reader :times

      # @return [Ended, nil] what an earlier run ended with; nil where it did not come to its end
      attr_reader :ended

      # @param path [String]
      # @param plan [Hash{String => Object}] what must be the same to go on
      # @param resume [Boolean] whether to go on where the file ends
      # @raise [UsageError] when there is nothing to go on with, or it was planned otherwise; without `resume`, when it
      #   holds rounds of a run that has not come to its end
      def initialize(path, plan:, resume: false)
        @path = path
        @plan = JSON.parse(JSON.generate(plan))
        @trials = resume ? read : begin_anew
      end

      # @param attempt [Array<Trial>] a round, void or not
      def keep(attempt) = write_line(attempt.map(&:to_document), "a")

      # @param times [TrialRunner::Times] of the rounds from here on
      def keep_times(times) = write_line({"times" => times.to_document}, "a")

      # The app, its gems or its settings may have changed since an earlier run
      # was interrupted: its rounds would be of something else.
      # @param fingerprints [Hash{String => Hash}] by variant, of what runs now
      # @raise [UsageError] when it is not what ran then
      def ensure_same(fingerprints)
        @trials.each do |trial|
          now = fingerprints.fetch(trial.variant)
          key = DeclarationCheck.changed_since(trial.fingerprint, now) or next
          raise UsageError, "--resume: #{trial.variant} has changed since the saved rounds: " \
            "#{Probe::Fingerprint.text(key)} was #{trial.fingerprint[key]}, and is now #{now[key]}. " \
            "Change it back, or start again without --resume."
        end
      end

      # The measurements are in a verdict now: another run may begin here.
      #
      # @param verdict [#trials, #remarks, #stopped_because]
      def finish(verdict)
        return if ended
        write_line({"ended" => Ended.new(trials: verdict.trials, remarks: verdict.remarks,
          stopped_because: verdict.stopped_because).to_document}, "a")
      end

      private

      def begin_anew
        ensure_nothing_unfinished
        write_line(@plan, "w")
        []
      end

      # A round takes minutes of somebody's machine.
      def ensure_nothing_unfinished
        lines = File.file?(@path) ? Journal.values(@path).drop(1) : []
        count = lines.grep(Array).count { |attempt| attempt.none? { |trial| trial.is_a?(Hash) && trial["void"] } }
        return if count.zero? || facts(lines).key?("ended")
        raise UsageError, "#{@path} holds #{Units.counted(count, "round")} of an interrupted run: continue it with " \
          "--resume, remove it, or give another --output"
      end

      def write_line(value, mode)
        File.open(@path, mode, binmode: true) { |file| file.puts(JSON.generate(value)) }
      rescue SystemCallError => error
        raise UsageError, "cannot write #{@path}: #{error.message}. Give another place."
      end

      def read
        plan, *lines = Journal.values(@path)
        ensure_plan(plan)
        Journal.end_line(@path)
        times, ended = facts(lines).values_at("times", "ended")
        @times = TrialRunner::Times.from_document(times) if times
        @ended = Ended.from_document(ended) if ended
        return @ended.trials if @ended
        lines.grep(Array).flat_map { |attempt| attempt.map { |trial| Trial.from_document(trial) } }
      rescue SystemCallError => error
        raise UsageError, "--resume: #{error.message}. There is nothing to resume; leave out --resume."
      rescue *Document::MISFITS => error
        raise UsageError, "--resume: #{@path} was not written by this version (#{Document.first_line(error)}). " \
          "Start again without --resume."
      end

      def facts(lines) = lines.grep(Hash).reduce({}, :merge)

      def ensure_plan(plan)
        different = @plan.keys.find { |key| plan&.fetch(key, nil) != @plan[key] }
        return unless different
        raise UsageError, "--resume: #{@path} was started with another plan (#{different}: " \
          "#{Document.excerpt(plan&.fetch(different, nil).inspect, Document::ERROR_LENGTH)}, " \
          "now #{@plan[different].inspect}). " \
          "Give the same options again, or start again without --resume."
      end
    end
  end
end
