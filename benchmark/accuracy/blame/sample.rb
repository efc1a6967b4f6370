# frozen_string_literal: true

require "json"

module Accuracy
  module Blame
    # Shares of a wait for the GVL, of one run: what is known and what the probe said. Pure.
    #
    # known, reported: holder => percent of the wait
    # doubt_percent: how far what is known may be off. There is a part of the wait in which no stamp says that anybody computed: the
    #   timer, a core that wakes up, the way from one thread to the next, Puma. A holder's true share lies between what its stamps
    #   cover and that with all of this part on top; known is the middle, doubt the way to either end
    Sample = Data.define(:known, :reported, :doubt_percent) do
      # @param text [String] JSON of a child
      # @param holders [Array<String>] whose shares are known
      # @return [Sample]
      def self.parse(text, holders:)
        said = JSON.parse(text)
        covered = shares(said.fetch("held"), said.fetch("waited_ns"), holders)
        doubt_percent = (100 - covered.values.sum).abs / 2
        new(known: covered.transform_values { |percent| percent + doubt_percent }, doubt_percent:,
          reported: shares(said.fetch("reported"), said.fetch("gvl_wait_ns"), holders))
      end

      def self.shares(sums_ns, all_ns, holders) = holders.to_h { |holder| [holder, sums_ns.fetch(holder, 0) * 100.0 / all_ns] }
      private_class_method :shares

      # @return [Float] in percentage points
      def error_percent(holder) = reported.fetch(holder) - known.fetch(holder)
    end
  end
end
