# frozen_string_literal: true

module PumaTuner
  module Measure
    # Adds the ledgers of processes that have ended up into one file, and removes them.
    class Folding
      # So many stay as they are, with their traces.
      ENDED_MAX = 16

      # @param ledgers [Ledgers]
      def initialize(ledgers)
        @ledgers = ledgers
      end

      # Contract: the folder is locked.
      def call
        ended = @ledgers.paths.reject { |path| folded?(path) || Host::Processes.alive?(File.basename(path).to_i) }
        return if ended.size <= ENDED_MAX
        readings = ended.filter_map { |path| Ledger.read(path) }
        earlier = Ledger.read(folded_path)
        return if readings.empty?
        write(Written.document([*earlier, *readings]))
        File.unlink(*ended)
      end

      private

      def folded_path = File.join(@ledgers.directory, "ended.json")

      def folded?(path) = path == folded_path

      def write(document)
        File.write("#{folded_path}.partial", JSON.generate(document))
        File.rename("#{folded_path}.partial", folded_path)
      end
    end
  end
end
