# frozen_string_literal: true

module PumaTuner
  module Report
    module Writers
      # One file for a browser: style, script, charts and the document itself are inside, and nothing is fetched. It can
      # be read without its script, printed, and kept as the record of what was measured.
      class Html < Writer
        # @param document [Data] what the page shows, to be embedded
        def initialize(document)
          @document = document
        end

        # @param page [Blocks::Page]
        # @return [String]
        def call(page)
          @chart_page = self.class::CHART_PAGE.new(@document,
            title: page.title || page.parts.find { |part| part.sections.any? }&.title || page.kicker) { content(page) }
          @chart_page.page
        end

        # @param section [Blocks::Section]
        # @return [String] it alone, for a page that has style and script of its own
        def section(section)
          @chart_page = self.class::CHART_PAGE.new(@document, title: section.title)
          written(section.blocks).join("\n")
        end

        # The page that the charts' templates are part of.
        CHART_PAGE = Report::Html::Page

        # Text in which nothing is markup but what we have put there.
        class Markup < String; end
        private_constant :Markup

        # Beside a chart's template, what it is made of: one, or several of it.
        CHARTS = {
          works: [:bars, ->(subject) { Report::Html::Bars.of_works(*subject) }],
          threads: [:bars, ->(observation) { Report::Html::Bars.of_threads(observation) }],
          variants: [:bars, ->(contents) { Report::Html::Bars.of_variants(contents) }],
          forecasts: [:bars, ->(subject) { Report::Html::Bars.of_forecasts(*subject) }],
          latency: [:row_chart, ->(endpoints) { Report::Html::LatencyChart.new(endpoints) }],
          holders: [:holder_matrix, ->(holders) { Report::Html::HolderMatrix.new(holders) }],
          heat_maps: [:heat_map, ->(maps) { maps.map { |map| Report::Html::HeatMap.new(**map) } }],
          ratios: [:ratio_chart, ->(subject) { Report::Html::RatioChart.new(**subject) }],
          rounds: [:rounds_chart, ->(contents) { Report::Html::RoundsChart.new(contents) }],
          curves: [:line_chart, ->(contents) { Report::Html::Curves.of(contents) }],
          tradeoff: [:tradeoff_chart, ->(study) { Report::Html::TradeoffChart.new(study) }],
          lanes: [:lane_chart, ->(subject) { Report::Html::LaneChart.new(*subject) }],
          flame: [:flame_graph, ->(costs) { Report::Html::FlameGraph.new(costs) }]
        }.freeze

        private

        def content(page) = [header(page), *page.parts.map { |part| part(part) }, closing(page)].compact.join("\n")

        def header(page)
          tag(:header, tag(:p, text([page.kicker, page.date].compact.join(", ")), class: "kicker"),
            tag(:h1, sentence(@chart_page.title)),
            *(tag(:p, text(page.conditions), class: "conditions") if page.conditions), *written(page.head))
        end

        def part(part)
          sections = part.sections.map { |section| [section, written(section.blocks)] }
            .reject { |_, blocks| blocks.empty? }
          return if sections.empty?
          inside = sections.flat_map do |section, blocks|
            [*(tag(:h3, text(section.title), id: section.id) if sections.size > 1), *blocks]
          end
          tag(:section, tag(:h2, text(part.title)), *inside, id: part.id)
        end

        def closing(page)
          if Report::Html::Embedded.shortened?(@document)
            left_out = "; the recorded requests and the spread of each part are left out of it to keep the file " \
              "small (--output writes them)"
          end
          again = [tag(:h2, text("To do it again")), tag(:pre, text(page.command), class: "command")] if page.command
          inside = "All values of this report are inside this file, as JSON in the element " \
            "#puma_tuner-document#{left_out}. Made by puma_tuner #{VERSION}; nothing on this page is fetched from " \
            "anywhere."
          tag(:section, *again, tag(:p, text(inside), class: "note"), id: "again")
        end

        def written(blocks) = blocks.map { |block| write(block) }.flatten.reject(&:empty?)

        def paragraph(block) = tag(:p, sentence(block.text), class: ("assumed" if block.style == :assumed))

        def note(block) = tag(:p, sentence(block.text), class: "note")

        def subheading(block) = tag(:h3, text(block.text), *(mark(block.mark) if block.mark), class: "load")

        def labelled(block)
          return [] if block.rows.empty?
          rows = block.rows.map do |label, texts|
            told = texts.is_a?(Array) ? tag(:ul, *texts.map { |text| tag(:li, sentence(text)) }) : value(texts)
            tag(:div, tag(:dt, text(label)), tag(:dd, told), class: ("beware" if block.beware.include?(label)))
          end
          tag(:dl, *rows, class: {points: "summary", list: nil}.fetch(block.style, "facts"))
        end

        def value(told) = told.is_a?(Blocks::Code) ? markup(@chart_page.code(text(told.text))) : sentence(told)

        def snippet(block)
          lines = block.text.lines.map { |line| markup("#{text(line.chomp)}\n") }
          [tag(:p, tag(:code, text(block.place))), tag(:pre, *lines)]
        end

        def list(block) = block.items.empty? ? [] : tag(:ul, *block.items.map { |item| tag(:li, sentence(item)) },
          class: "findings")

        def lines(block) = tag(:pre, *[*block.entries.flatten, *block.last].map { |line| markup("#{text(line)}\n") })

        def article(block) = tag(:article, tag(:h3, sentence(block.title)), *written(block.blocks), class: block.style)

        def figure(block)
          inside = written(block.blocks)
          return [] if inside.empty?
          tag(:figure, *(tag(:h3, text(block.title)) if block.title), *inside,
            *(tag(:figcaption, sentence("How to read it: #{block.reading}")) if block.reading), id: block.id)
        end

        def folded(block)
          inside = written(block.blocks)
          return [] if inside.empty?
          summary = tag(:summary, text(block.title))
          markup("<details#{" open" if block.open}>#{summary}#{inside.join}</details>")
        end

        def aside(block) = written(block.blocks)

        # A chart without anything to draw is none; several small ones stand side by side.
        def chart(block)
          template, maker = self.class::CHARTS.fetch(block.kind)
          charts = [*maker.call(block.subject)].reject { |chart| chart.respond_to?(:any?) && !chart.any? }
          drawn = charts.map { |chart| markup(@chart_page.public_send(:"#{template}_html", chart)) }
          small = template == :line_chart && charts.any? && charts.none?(&:wide?)
          small ? tag(:div, *drawn, class: "side-by-side") : drawn
        end

        def table(block)
          rows = block.rows_for(:html)
          return [] if rows.empty?
          table = tag(:table, *(tag(:caption, sentence(block.caption)) if block.caption), heading(block.columns),
            tag(:tbody, *rows.map { |row| row(row, block) }),
            class: [*("sortable" if block.sortable), *block.style].join(" "))
          left_out = Figures.counted(block.hidden_count(:html), *block.nouns)
          [tag(:div, table, class: "wide"),
            *(tag(:p, text("#{left_out} more in the JSON."), class: "note") if block.hidden_count(:html).positive?)]
        end

        def heading(columns)
          cells = columns.each_with_index.map do |column, index|
            tag(:th, text(Words.heading(column, narrow: true)), scope: "col",
              class: ("number" if index.positive? && !Words::LEFT.include?(column.kind)), title: column.meaning)
          end
          tag(:thead, tag(:tr, *cells))
        end

        def row(row, block)
          name, *cells = row.cells.zip(block.columns)
          words = [*row.marks, *("primary" if row.style == :primary)]
          names = [*words.map { |word| word.tr(" ", "-") }, *("all" if row.style == :total)]
          tag(:tr, tag(:th, inside(*name), *words.map { |word| mark(word) }, scope: "row"),
            *cells.map { |cell, column| cell(cell, column, sortable: block.sortable) },
            class: (names.join(" ") if names.any?))
        end

        def cell(cell, column, sortable:)
          style, title, kind = cell.is_a?(Blocks::Cell) ? [cell.style, cell.title, cell.kind] : []
          number = Words.sort_number(cell) if sortable
          tag(:td, inside(cell, column), class: cell_class(style, kind || column.kind),
            data_number: (format("%.6g", number) if number), title:)
        end

        def cell_class(style, kind)
          return "outcome-word outcome-#{style}" if kind == :outcome && style
          ["number", *("unsteady" if style == :unsteady)].join(" ") unless Words::LEFT.include?(kind)
        end

        # What is to be said of a value stands small below it, unless it is under the pointer.
        def inside(cell, column)
          texts = (cell.is_a?(Array) ? cell : [cell]).map { |one| text(Words.cell(one, column, narrow: true)) }
          note = cell.note if cell.is_a?(Blocks::Cell) && !cell.title
          markup([texts.join("<br>"), *("<br>#{tag(:small, text(note))}" if note)].join)
        end

        def mark(word) = markup(" #{tag(:small, text(word), class: "mark")}")

        def text(text) = markup(@chart_page.h(text))

        # A range in brackets stays on one line.
        def sentence(text) = markup(@chart_page.prose(text))

        def markup(text) = Markup.new(text)

        # @param inside [Array<Markup>] plain text would be one that nobody has escaped
        def tag(name, *inside, **attributes)
          plain = inside.grep_v(Markup)
          raise InvariantError, "text that nobody has escaped: #{plain.first.inspect}" if plain.any?
          told = attributes.compact.map { |key, value| %( #{key.to_s.tr("_", "-")}="#{@chart_page.h(value)}") }.join
          markup("<#{name}#{told}>#{inside.join}</#{name}>")
        end
      end
    end
  end
end
