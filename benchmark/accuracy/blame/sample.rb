# frozen_string_literal: true

require "json"

module Accuracy
  module Blame
    # Shares of a wait for the GVL, of one run: what is known and what the probe said. Pure.
    #
    # known, reported: holder => percent of the wait
    # doubt_percent: of the wait, while none of the known held the GVL: the timer, a core that wakes up, the way from one
    #   thread to the next, Puma. It may belong to any of them
    Sample = Data.define(:known, :reported, :doubt_percent) do
      # @param text [String] JSON of a child
      # @param holders [Array<String>] whose shares are known
      # @return [Sample]
      def self.parse(text, holders:)
        said = JSON.parse(text)
        known = shares(said.fetch("held"), said.fetch("waited_ns"), holders)
        new(known:, reported: shares(said.fetch("reported"), said.fetch("gvl_wait_ns"), holders), doubt_percent: (100 - known.values.sum).abs)
      end

      def self.shares(sums_ns, all_ns, holders) = holders.to_h { |holder| [holder, sums_ns.fetch(holder, 0) * 100.0 / all_ns] }
      private_class_method :shares

      # @return [Float] in percentage points
      def error_percent(holder) = reported.fetch(holder) - known.fetch(holder)
    end
  end
end
