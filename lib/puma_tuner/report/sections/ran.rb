# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What was declared, and what ran.
      class Ran < Base
        # Side by side no more variants than these; of more it is told who has what.
        COLUMNS_MAX = 4

        KEY_LENGTH = 30

        # Of all keys and values of a row in a terminal.
        ROW_LENGTH = 98
        private_constant :COLUMNS_MAX, :KEY_LENGTH, :ROW_LENGTH

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @ran = WhatRan.new(contents)
        end

        # @return [Blocks::Section, nil]
        def section
          return unless @ran.any?
          tables = {"declared" => @ran.factors,
                    "what ran" => @ran.differing}.reject { |_, rows| rows.empty? }.flat_map { |title, rows|
            differences(title,
              rows)
          }
          Section.new(id: "what-ran", title: "What ran", brief: :never, open: false,
            blocks: [*tables, *@ran.silent.map { |name| Note.new("Nothing can be read from inside #{name}.") }, *same])
        end

        private

        def differences(title, rows)
          return who_has_what(title, rows) if @ran.names.size > COLUMNS_MAX
          # So wide that all variants have room beside the keys.
          room = (ROW_LENGTH - KEY_LENGTH) / @ran.names.size - 2
          columns = [Column.new(title, length: KEY_LENGTH), *@ran.names.map { |name| Column.new(name, length: room) }]
          Table.new(columns, rows.map { |row| Row.new([row.key, *row.values]) }, style: "ran")
        end

        def who_has_what(title, rows)
          told = rows.to_h do |row|
            [row.key, @ran.names.zip(row.values).group_by(&:last).map { |value, pairs|
              "#{value || "-"} " \
                          "(#{pairs.map(&:first).join(", ")})"
            }.join("; ")]
          end
          [Subheading.new(title), Labelled.new(told)]
        end

        def same
          return [] if @ran.same.empty?
          [Note.new("The same in all: #{Figures.counted(@ran.same.size, "fact")} more."),
            Folded.new("#{Figures.counted(@ran.same.size, "fact")} that are the same in all",
              [Aside.new([Labelled.new(@ran.same.transform_values { |value| value.empty? ? "-" : value })])])]
        end
      end
    end
  end
end
