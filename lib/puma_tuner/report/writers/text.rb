# frozen_string_literal: true

module PumaTuner
  module Report
    module Writers
      # For a terminal. Of a whole tuning it shows a screen, unless all is asked for; its end is what stays on the
      # screen.
      class Text < Writer
        WIDTH = 100

        # In a narrower window the terminal breaks lines.
        LEAST_WIDTH = 80

        INDENT = "  "

        # Of labels that stand before their texts.
        LABEL_WIDTHS = (5..32)

        # Less of a name would tell nothing.
        LEAST_NAME_LENGTH = 16

        # A name as short as this stands beside its numbers even where the line gets longer than it should.
        SHORT_NAME_LENGTH = 8

        MARKS = Hash.new(:cyan).merge("recommended" => :green).freeze
        ARTICLES = {advice: :green, remark: :yellow}.freeze

        # What stands close to what is above it.
        CLOSE = [Blocks::Note].freeze

        # @param color [Boolean] whether to use a terminal's colours
        # @param verbose [Boolean] whether everything is shown
        # @param width [Integer, nil] of the window, nil where nobody knows; lines get no longer than WIDTH all the same
        def initialize(color: false, verbose: false, width: nil)
          @width = (width || WIDTH).clamp(LEAST_WIDTH, WIDTH)
          @paint = Paint.new(color)
          @verbose = verbose
          @medium = verbose ? :text : :brief
        end

        # @param page [Blocks::Page]
        # @return [String]
        def call(page)
          @left_out = false
          texts = [head(page), *page.sections.map { |section| section(section) if shown?(section, page.whole) },
            repeat(page.command), more].compact
          texts.join("\n\n") << "\n"
        end

        private

        def head(page)
          title = [page.lead, page.title].compact.join(": ")
          # Its table repeats, for whom a summary is enough, what stands below.
          lines = [*lines_of(page.head.grep_v(Blocks::Table)), *(faint(page.conditions) if page.conditions)]
          [*(heading_lines(title) unless title.empty?), *lines].join("\n") unless title.empty? && lines.empty?
        end

        def shown?(section, whole)
          return true if @verbose || section.brief == :always || (section.brief == :alone && !whole)
          @left_out = true
          false
        end

        def section(section)
          lines = lines_of(section.blocks)
          [*heading_lines(section.title), *lines].join("\n") if lines.any?
        end

        def heading_lines(text) = Figures.wrap(Figures.printable(text), @width).map { |line| @paint.call(line, :bold) }

        def repeat(command)
          labelled(Blocks::Labelled.new({"repeat" => command})).join("\n") if command && @verbose
        end

        def more = (@paint.call("There is more: --verbose, and in the HTML report.", :dim) if @left_out)

        def lines_of(blocks)
          above = nil
          leaves(blocks).each_with_object([]) do |block, lines|
            own = write(block)
            next if own.empty?
            lines << "" if apart?(above, block)
            lines.concat(own)
            above = block
          end
        end

        def apart?(above, block)
          case above
          when nil, Blocks::Subheading then false
          when Blocks::Paragraph, Blocks::Note then !CLOSE.include?(block.class) && block.class != above.class
          else !CLOSE.include?(block.class)
          end
        end

        # Blocks that hold others are nothing by themselves here.
        def leaves(blocks)
          blocks.flat_map do |block|
            case block
            when Blocks::Figure then leaves(block.blocks)
            when Blocks::Folded then leaves([*block.instead, *block.blocks])
            when Blocks::Chart then leaves(block.instead)
            when Blocks::Table then block.narrow ? leaves(block.narrow) : [block]
            when Blocks::Aside
              @left_out = true unless @verbose
              @verbose ? leaves(block.blocks) : []
            else [block]
            end
          end
        end

        def paragraph(block)
          style = Paint::OUTCOMES[block.style]
          wrapped(block.text).map { |line| @paint.call(line, *style) }
        end

        def note(block) = faint(block.text)

        def faint(text) = wrapped(text).map { |line| @paint.call(line, :dim) }

        def subheading(block)
          mark = " (#{block.mark})" if block.mark
          wrapped("#{block.text}#{mark}").map { |line| @paint.call(line, :bold) }
        end

        def labelled(block)
          return [] if block.rows.empty?
          longest = block.rows.keys.map(&:length).max
          indent = (longest + INDENT.length + 2).clamp(LABEL_WIDTHS)
          block.rows.flat_map do |label, texts|
            Array(texts).flat_map.with_index do |text, index|
              wrapped(text.is_a?(Blocks::Code) ? text.text : text, label: index.zero? ? label : "", indent:)
            end
          end
        end

        def snippet(block)
          ["#{INDENT}#{block.place}:", *block.text.lines.map { |line| "#{INDENT * 2}#{Figures.printable(line.chomp)}" }]
        end

        def list(block) = block.items.flat_map { |item| wrapped(item, label: "-", indent: 4) }

        def lines(block)
          count = block.most[@medium]
          shown = count ? block.entries.first(count) : block.entries
          left_out = block.entries.size - shown.size
          [*shown.flatten.map { |line| Figures.printable(line) },
            *(faint(more_of(left_out, block.noun)) if left_out.positive?), *block.last]
        end

        def article(block)
          [*wrapped(block.title).map { |line| @paint.call(line, :bold, *ARTICLES[block.style]) },
            *lines_of(block.blocks)]
        end

        def table(block)
          rows = block.rows_for(@medium)
          return [] if rows.empty?
          picked = block.columns.each_index.reject { |index| block.columns[index].page }
          columns = block.columns.values_at(*picked)
          told = rows.map { |row| told(row, picked, columns) }
          headings = columns.each_with_index.map { |column, place| heading(column, place) }
          above = fit_names(told, headings, columns.first)
          hidden = rows_left_out(block, @medium)
          @left_out = true if hidden && !@verbose
          [*laid_out(told, headings, above), *(faint(hidden) if hidden)]
        end

        # @param above [Boolean] whether names stand above their numbers
        def laid_out(told, headings, above)
          name, *others = headings
          layout = Columns.new([above ? "" : name, *others, "<"], width: @width, paint: @paint)
          told.each do |row|
            row.lines.each { |own, *rest| layout << [(own unless above), *rest].map { |text| painted(text) } }
          end
          title = @paint.call("#{INDENT}#{name}", :dim) if above && !name.empty?
          [*title, *with_notes(layout.lines, told, above)]
        end

        # lines: [[Styled of a cell, …], …], marks last; notes: to stand below them
        Told = Data.define(:lines, :notes)

        # What stands in a cell, and its colours. A name is cut to its room before it is painted, as its colours would
        # be cut with it, and half a code is rubbish on the screen.
        Styled = Data.define(:text, :styles)
        private_constant :Told, :Styled

        # Cells of several lines, and marks, go on below.
        def told(row, picked, columns)
          cells = row.cells.values_at(*picked)
          texts = cells.zip(columns).each_with_index.map do |(cell, column), place|
            # Names are shortened together, so that they still differ.
            next cell_lines(cell, column.with(length: nil), bold: row.marks.any?) if place.zero?
            cell_lines(cell, column)
          end
          texts.first[0] = texts.first[0].with(text: "#{texts.first[0].text} (primary)") if row.style == :primary
          texts << row.marks.map { |mark| Styled.new(text: mark, styles: [MARKS[mark]]) }
          height = [texts.map(&:size).max, 1].max
          notes = cells.zip(columns).select { |cell, _| cell.is_a?(Blocks::Cell) && cell.note }
            .map { |cell, column| "#{INDENT * 2}#{column.name}: #{cell.note}" }
          Told.new(lines: [*Array.new(height) { |line| texts.map { |own| own[line] } },
            *(below(row.below, picked, columns) if row.below)], notes:)
        end

        def below(row, picked, columns)
          name, *numbers = row.cells.values_at(*picked).zip(columns)
            .map { |cell, column| cell_lines(cell, column).first }
          [[Styled.new(text: " #{name.text}", styles: [:cyan]), *numbers,
            Styled.new(text: row.marks.join(", "), styles: [])]]
        end

        def cell_lines(cell, column, bold: false)
          (cell.is_a?(Array) ? cell : [cell]).map do |one|
            text = shortened(Figures.printable(Words.cell(one, column, narrow: true, range: false)), column.length)
            Styled.new(text:, styles: [*Paint::OUTCOMES[(one.style if one.is_a?(Blocks::Cell))], *(:bold if bold)])
          end
        end

        # @param styled [Styled, nil] nil below a cell of fewer lines than others have
        def painted(styled) = styled && @paint.call(styled.text, *styled.styles)

        def heading(column, place)
          name = shortened(Words.heading(column, narrow: true, name: column.short || column.name), column.length)
          (place.positive? && Words::LEFT.include?(column.kind)) ? "<#{name}" : name
        end

        # Names take what the numbers beside them leave when these stand close, and no two of them become the same.
        #
        # @return [Boolean] whether that is too little: then they stand above their numbers
        def fit_names(told, headings, column)
          lines = told.flat_map(&:lines)
          names = lines.filter_map { |line| line[0]&.text }
          left = @width - INDENT.length - taken(lines, headings)
          most = column.length || @width
          room = column.whole ? most : [left, most].min.clamp(LEAST_NAME_LENGTH..)
          length = Figures.length_apart(names, room)
          above = length > [left, SHORT_NAME_LENGTH].max
          length = Figures.length_apart(names, [@width - INDENT.length, most].min) if above
          lines.each { |line| line[0] &&= line[0].with(text: Figures.shortened(line[0].text, length)) }
          above
        end

        # @return [Integer] what the numbers take, with a space before each
        def taken(lines, headings)
          [*headings, ""].each_with_index.drop(1).sum do |heading, place|
            length = [heading.delete_prefix("<").length, *lines.map { |line| line[place]&.text.to_s.length }].max
            length.positive? ? length + 1 : 0
          end
        end

        # What is to be said of a row besides stands below it.
        def with_notes(lines, told, above)
          heading, *rest = lines
          below = told.flat_map do |row|
            numbers = rest.shift(row.lines.size)
            own = row.lines.zip(numbers).flat_map do |(name, *), line|
              [*("#{INDENT}#{painted(name)}" if above && !name&.text.to_s.empty?), line]
            end
            [*own, *row.notes.map { |text| @paint.call(text, :dim) }]
          end
          [heading, *below]
        end

        # @return [Array<String>] the text under an indent, or beside a label that stands where the indent is
        def wrapped(text, label: "", indent: INDENT.length)
          return wrapped("#{label}: #{text}") if label.length >= indent - INDENT.length && !label.empty?
          head = label.empty? ? "" : "#{INDENT}#{label}"
          Figures.wrap(Figures.printable(text), @width - indent).each_with_index.map do |line, index|
            "#{index.zero? ? @paint.call(head.ljust(indent), :dim) : " " * indent}#{line}"
          end
        end

        def shortened(text, length) = length ? Figures.shortened(text, length) : text
      end
    end
  end
end
