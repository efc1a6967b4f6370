# frozen_string_literal: true

module PumaTuner
  module CLI
    # Carries out a proof for a command: it shows how far it is, keeps each round, and tells whoever interrupts it how
    # to go on.
    module Proving
      # @return [String] the command that runs, as people can give it again to go on from where it was interrupted;
      #   without what may be secret, as it stands in the logs of whatever runs it
      def self.resumed
        words = ARGV - ["--resume"]
        words.insert(words.index("--") || -1, "--resume")
        hidden = " (with your own values for what is hidden here)" if Host::Masking.words(words) != words
        "#{Host::Masking.own_command(words)}#{hidden}"
      end

      private

      # @param plan [ProofPlan]
      # @param output [String] path beside which the rounds are kept until there is a result
      # @param resume [Boolean]
      # @yieldparam verdict [Prove::Verdict] to be written, while the rounds still count as a run to go on with
      # @return [Prove::Verdict]
      def prove(plan, name:, output:, resume:)
        journal = Prove::Journal.new("#{output}.rounds", plan: plan.same, resume:)
        verdict_of(plan, name, journal).tap do |verdict|
          yield verdict
          verdict.complete ? journal.finish(verdict) : tell_incomplete(verdict, journal)
        end
      end

      def verdict_of(plan, name, journal)
        proof = plan.setup.proof(kept: journal)
        progress.stage(name, nil) { |stage| proof.call { |what, left_s| stage.note(what, left_s) } }
      rescue Interrupt
        err.puts("\npuma_tuner: finished rounds are saved in #{journal.path}; continue with: #{Proving.resumed}")
        exit(130)
      end

      def tell_incomplete(verdict, journal)
        err.puts("puma_tuner: the proof ended early: #{Report::Statements.words(verdict.stopped_because)}")
        return if verdict.trials.empty?
        err.puts("puma_tuner: its rounds are saved in #{journal.path}; continue with: #{Proving.resumed}")
      end
    end
  end
end
