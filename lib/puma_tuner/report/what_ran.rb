# frozen_string_literal: true

module PumaTuner
  module Report
    # What was declared of each variant, and what ran, as read from inside it: where they differ, and where they do not.
    class WhatRan
      # values: one for each variant, the baseline first; nil where there is none
      Row = Data.define(:key, :values)

      # @param contents [Contents] with a verdict
      def initialize(contents)
        @cells = contents.cells
      end

      # @return [Boolean] whether there is anything to tell; a topology is in the variants' names
      def any? = keys.any? || factors.any? { |row| row.key != "topology" }

      # @return [Array<String>] the variants
      def names = @cells.map(&:variant)

      # @return [Array<Row>] what was declared
      def factors = rows(@cells.flat_map { |cell| cell.factors.keys }.uniq, @cells.map(&:factors))

      # @return [Array<Row>] what ran, where not all of it is the same
      def differing = rows(keys.reject { |key| alike?(key) }, @cells.map(&:fingerprint)).map { |row| row.with(key: text(row.key)) }

      # @return [Hash{String => String}] what ran in all of them
      def same = keys.select { |key| alike?(key) }.to_h { |key| [text(key), known.first.fingerprint[key]] }

      # @return [Array<String>] variants that said nothing of themselves
      def silent = (known.any? ? @cells - known : []).map(&:variant)

      private

      def text(key) = Probe::Fingerprint.text(key)

      def known = @known ||= @cells.reject { |cell| cell.fingerprint.empty? }

      # What only some can tell (the others are no Ruby) is no difference but a silence.
      def keys
        all = known.map { |cell| cell.fingerprint.keys }
        mixed = known.partition { |cell| cell.fingerprint.key?([:ruby, nil]) }.all?(&:any?)
        (all.reduce(mixed ? :& : :|) || []).sort_by { |key| text(key) }
      end

      def alike?(key) = known.map { |cell| cell.fingerprint[key] }.uniq.size == 1

      def rows(keys, hashes) = keys.map { |key| Row.new(key:, values: hashes.map { |hash| hash[key] }) }
    end
  end
end
