# frozen_string_literal: true

module PumaTuner
  module CLI
    # The command that runs, as people can give it again; without what may be secret, as it stands in findings, and in
    # the logs of whatever runs it.
    module Repetition
      # @return [String] from its beginning
      def self.anew = Host::Masking.own_command(ARGV - ["--resume"])

      # @return [String] from where it was interrupted
      def self.resumed
        words = ARGV - ["--resume"]
        words.insert(words.index("--") || -1, "--resume")
        hidden = " (with your own values for what is hidden here)" if Host::Masking.words(words) != words
        "#{Host::Masking.own_command(words)}#{hidden}"
      end
    end
  end
end
