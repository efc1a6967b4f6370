# frozen_string_literal: true

module PumaTuner
  module Report
    # What a report is made of. Sections make blocks, of values with their units; writers print blocks, and know nothing
    # else.
    module Blocks
      # The first fields of a block may be given without their names, and those that mostly are the same not at all.
      module InOrder
        def new(*values, **named) = super(**self::OTHERS, **members.first(values.size).zip(values).to_h, **named)
      end

      # @param fields [Array<Symbol>] that must be given
      # @param others [Hash{Symbol => Object}] fields with what holds without them
      # @return [Class] a subclass of Data
      def self.define(*fields, **others, &block)
        Data.define(*fields, *others.keys) do
          singleton_class.prepend(InOrder)
          const_set(:OTHERS, others.freeze)
          class_eval(&block) if block
        end
      end

      # A whole report.
      #
      # title: what was found, in a line; nil when it has none
      # lead: what a terminal shows before the title, such as "In short"; kicker: what kind of report it is
      # date: when it was measured, nil when nobody knows; conditions: a sentence on what was measured, nil without
      # head: blocks that come before all sections
      # command: that makes the same again, nil without; whole: whether it is a tuning, of which a terminal shows a part
      Page = define(:title, :parts, lead: nil, kicker: "PumaTuner report", date: nil, conditions: nil, head: [],
        command: nil, whole: false) do
        # @return [Array<Section>]
        def sections = parts.flat_map(&:sections)
      end

      # Sections that answer one question. id: of an element; title: the question; nil in sections stands for none
      Part = define(:id, :title, :sections) do
        def initialize(id:, title:, sections:) = super(id:, title:, sections: sections.compact)
      end

      # brief: when a terminal shows it unasked: :always, :alone (of what is no whole tuning) or :never
      # open: whether a summary shows it at once, or folds it away, as it does all of a whole tuning
      Section = define(:id, :title, :blocks, brief: :always, open: true)

      # style: :assumed of what nobody has measured, or a comparison's outcome
      Paragraph = define(:text, style: nil)

      # How to read what stands above, or what speaks against it.
      Note = define(:text)

      # mark: a word beside it
      Subheading = define(:text, mark: nil)

      # Labels beside their texts. rows: {label => String, Code, or an Array of them}; what is nil or empty is left out
      # style: :points of a report's first sentences, :list inside of an article; beware: labels that must not be missed
      Labelled = define(:rows, style: nil, beware: []) do
        def initialize(rows:, **) = super(rows: rows.reject { |_, text| text.nil? || text == "" || text == [] }, **)
      end

      # What a person types.
      Code = define(:text)

      # Lines to set, and the file or the like where they go.
      Snippet = define(:place, :text)

      # Sentences, one below the other.
      List = define(:items)

      # Lines whose columns a terminal aligns. entries: [[line, …], …], of which so many as `most` says are shown
      # noun: what an entry is;
      # last: a line that is shown in any case
      Lines = define(:entries, noun: "line", most: {}, last: nil)

      # Something that has a name of its own, such as an advice. style: :advice, :remark or nil
      Article = define(:title, :blocks, style: nil)

      # A column. kind: of Words; meaning: in words; page: whether only a page has room for it
      # length: of its texts in a terminal; short: its name there; middle: whether only a page tells an estimate's range
      # whole: whether its texts, the rows' names, are not shortened, as variants' differ in single words
      Column = define(:name, kind: :text, meaning: nil, page: false, length: nil, short: nil, middle: false,
        whole: false)

      # A cell that is more than its value. kind: instead of its column's; note: what to say of it besides; title: the
      # same, where there is a pointer; style: a comparison's outcome, or :unsteady; number: by which it is sorted, when
      # its value is text
      Cell = define(:value, kind: nil, note: nil, title: nil, style: nil, number: nil)

      # cells: for each column a value, a Cell, or an Array of lines; nil is unknown, "" is empty
      # marks: words on why to look at it; key: whether it is shown where not all are
      # style: :total, or :primary of what was declared beforehand
      # below: a Row that belongs to it, for those who read from the top down
      Row = define(:cells, marks: [], key: false, style: nil, below: nil)

      # most: {medium => rows that it has room for}; nouns: of rows, when some are left out
      # rest: makes a Row of all after the first so many; nil: they are left out
      # style: a name of what the table looks like; sortable: whether the order of its rows tells nothing
      # narrow: blocks in its place where there is no room for it, as in a terminal
      Table = define(:columns, :rows, caption: nil, style: nil, sortable: false, most: {}, nouns: %w[row rows],
        rest: nil, narrow: nil) do
        # @param medium [Symbol] :brief, :text, :markdown or :html
        # @return [Array<Row>] those that it has room for
        def rows_for(medium)
          count = most[medium]
          return rows if count.nil? || rows.size <= count
          return [*rows.first(count - 1), rest.call(count - 1)] if rest
          rows.any?(&:key) ? rows.select(&:key) : rows.first(count)
        end

        # @return [Integer] rows that are in none of those
        def hidden_count(medium) = rest ? 0 : rows.size - rows_for(medium).size
      end

      # A picture. kind: of those that a page can draw; subject: what it is drawn of; instead: blocks for those who draw
      # nothing
      Chart = define(:kind, :subject, instead: [])

      # A row of a chart of ratios. other: a number that the estimate is held against; facts: texts beside it
      # title: all of it in words
      Ratio = define(:name, :estimate, :title, :facts, other: nil, outcome: nil)

      # Blocks with a name in a page, and a sentence on how to read them; without one, they are read as those before.
      Figure = define(:id, :blocks, reading: nil, title: nil)

      # What a page unfolds when somebody asks. instead: blocks in the place of its title where nothing is folded
      Folded = define(:title, :blocks, open: false, instead: [])

      # What a summary leaves out, and a terminal unless it is asked for all.
      Aside = define(:blocks)
    end
  end
end
