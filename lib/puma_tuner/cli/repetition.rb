# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    # The command that runs, as people can give it again.
    module Repetition
      # @return [String] from its beginning
      def self.anew = "puma_tuner #{(ARGV - ["--resume"]).shelljoin}"

      # @return [String] from where it was interrupted
      def self.resumed = "#{anew} --resume"
    end
  end
end
