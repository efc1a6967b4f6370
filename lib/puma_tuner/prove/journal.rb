# frozen_string_literal: true

require "json"

module PumaTuner
  module Prove
    # Attempts at rounds as they are made, one a line, so that nothing is lost when a run is interrupted, and the analysis
    # can be done again. The first line says what was planned: a run can only go on with the same plan.
    class Journal
      # @return [Array<Trial>] of earlier runs
      attr_reader :trials

      # @param path [String]
      # @param plan [Hash{String => Object}] what must be the same to go on
      # @param resume [Boolean] whether to go on where the file ends
      # @raise [UserMistake] when there is nothing to go on with, or it was planned otherwise
      def initialize(path, plan:, resume: false)
        @path = path
        @plan = JSON.parse(JSON.generate(plan))
        @trials = resume ? read : []
        write_line(@plan, "w") unless resume
      end

      # @param attempt [Array<Trial>] a round, void or not
      def keep(attempt) = write_line(attempt.map(&:to_document), "a")

      private

      def write_line(value, mode)
        File.open(@path, mode) { |file| file.puts(JSON.generate(value)) }
      rescue SystemCallError => error
        raise UserMistake, "cannot write #{@path}: #{error.message}. Give another place."
      end

      # The last line may be cut short, by what interrupted the run.
      def read
        plan, *attempts = File.readlines(@path).filter_map { |line| parsed(line) }
        insist_on_plan(plan)
        attempts.flat_map { |attempt| attempt.map { |trial| Trial.from_document(trial) } }
      rescue SystemCallError => error
        raise UserMistake, "--resume: #{error.message}. There is nothing to go on with; leave out --resume."
      rescue KeyError, NoMethodError => error
        raise UserMistake, "--resume: #{@path} was not written by this version (#{error.message}). Begin anew, without --resume."
      end

      def insist_on_plan(plan)
        different = @plan.keys.find { |key| plan&.fetch(key, nil) != @plan[key] }
        return unless different
        raise UserMistake, "--resume: #{@path} was begun with another plan (#{different}: #{plan&.fetch(different, nil).inspect}, now " \
          "#{@plan[different].inspect}). Give the same options again, or begin anew without --resume."
      end

      def parsed(line)
        JSON.parse(line)
      rescue JSON::ParserError
        nil
      end
    end
  end
end
