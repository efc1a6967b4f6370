# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What was declared of each variant, and what ran, as read from inside it: where they differ, and where they do
      # not.
      class Ran < Base
        # Side by side no more variants than these; of more, and where their names would look the same above their
        # columns, it is told who has what.
        COLUMNS_MAX = 4

        KEY_LENGTH = 30

        # Of all keys and values of a row in a terminal.
        ROW_LENGTH = 98
        private_constant :COLUMNS_MAX, :KEY_LENGTH, :ROW_LENGTH

        # values: one for each variant, the baseline first; nil where there is none
        Told = Data.define(:key, :values)

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @cells = contents.cells
        end

        # @return [Blocks::Section, nil]
        def section
          return unless any?
          tables = {"declared" => factors, "what ran" => differing}.reject { |_, rows| rows.empty? }
            .flat_map { |title, rows| differences(title, rows) }
          Section.new(id: "what-ran", title: "What ran", brief: :never, open: false,
            blocks: [*tables, *silent.map { |name| Note.new("Nothing can be read from inside #{name}.") },
              *same_in_all])
        end

        # @return [Boolean] whether there is anything to tell; a topology is in the variants' names
        def any? = keys.any? || factors.any? { |row| row.key != "topology" }

        # @return [Array<String>] the variants
        def names = @cells.map(&:variant)

        # @return [Array<Told>] what was declared
        def factors = rows(@cells.flat_map { |cell| cell.factors.keys }.uniq, @cells.map(&:factors))

        # @return [Array<Told>] what ran, where not all of it is the same
        def differing = rows(keys.reject { |key| alike?(key) },
          @cells.map(&:fingerprint)).map { |row| row.with(key: text(row.key)) }

        # @return [Hash{String => String}] what ran in all of them
        def same = keys.select { |key| alike?(key) }.to_h { |key| [text(key), known.first.fingerprint[key]] }

        # @return [Array<String>] variants that said nothing of themselves
        def silent = (known.any? ? @cells - known : []).map(&:variant)

        private

        def differences(title, rows)
          # So wide that all variants have room beside the keys.
          room = (ROW_LENGTH - KEY_LENGTH) / names.size - 2
          return who_has_what(title, rows) if names.size > COLUMNS_MAX || Figures.length_apart(names, room) > room
          columns = [Column.new(title, length: KEY_LENGTH), *names.map { |name| Column.new(name, length: room) }]
          Table.new(columns, rows.map { |row| Row.new([row.key, *row.values]) }, style: "ran")
        end

        def who_has_what(title, rows)
          told = rows.to_h do |row|
            who = names.zip(row.values).group_by(&:last)
            [row.key, who.map { |value, pairs| "#{value || "-"} (#{pairs.map(&:first).join(", ")})" }.join("; ")]
          end
          [Subheading.new(title), Labelled.new(told)]
        end

        def same_in_all
          return [] if same.empty?
          [Folded.new("#{Figures.counted(same.size, "fact")} that are the same in all variants",
            [Aside.new([Labelled.new(same.transform_values { |value| value.empty? ? "-" : value })])],
            instead: [Note.new("#{Figures.counted(same.size, "other fact")} are the same in all variants.")])]
        end

        def text(key) = Probe::Fingerprint.text(key)

        def known = @known ||= @cells.reject { |cell| cell.fingerprint.empty? }

        # What only some can tell (the others are no Ruby) is no difference but a silence.
        def keys
          all = known.map { |cell| cell.fingerprint.keys }
          mixed = known.partition { |cell| cell.fingerprint.key?([:ruby, nil]) }.all?(&:any?)
          (all.reduce(mixed ? :& : :|) || []).sort_by { |key| text(key) }
        end

        def alike?(key) = known.map { |cell| cell.fingerprint[key] }.uniq.size == 1

        def rows(keys, hashes) = keys.map { |key| Told.new(key:, values: hashes.map { |hash| hash[key] }) }
      end
    end
  end
end
