# frozen_string_literal: true

module PumaTuner
  module Top
    # Draws a status: the same status, view and size make the same lines. Each part of a request's time has a letter
    # besides its colour, so that nothing is told by colour alone.
    class Screen
      # kind: how a value is printed, see PRINTED; width: nil shares what is left; numbers that need more get it
      Column = Data.define(:heading, :width, :kind, :value) do
        def left? = %i[text cause bar].include?(kind)
      end

      # Letters of parts, and the reports' colours, which those who see few tell apart (Okabe and Ito, "Color Universal
      # Design", 2008), as the nearest of a terminal's 256: background, and letter on it.
      PARTS = {queue: ["q", 249, 16], gvl_wait: ["w", 166, 16], preempted: ["p", 175, 16], cpu: ["c", 25, 231],
               gc: ["g", 74, 16], io: ["i", 36, 16], lock: ["l", 214, 16], sleep: ["s", 115, 16]}.freeze

      BAR = 14

      # A percentile of fewer has a mark before it.
      FEW = 100

      # So many lines stand above the rows, and below them; where there are fewer, those below are left out, one block
      # after the other.
      LEAST_ROWS = 3

      PAGES = {
        endpoints: [
          Column.new("endpoint", nil, :text, ->(row) { (row.kind == "job") ? "job #{row.name}" : row.name }),
          Column.new("req/s", 6, :decimal, :throughput_per_s.to_proc),
          Column.new("n", 6, :count, :requests_count.to_proc),
          Column.new("p50 ms", 6, :ms, :p50_ns.to_proc), Column.new("p99 ms", 7, :tail, :p99_ns.to_proc),
          Column.new("budget", BAR, :bar, :budget.to_proc), Column.new("caused by", nil, :cause, :cause.to_proc)
        ],
        workers: [
          Column.new("worker", nil, :text, ->(row) { row.worker_index&.to_s || "single" }),
          Column.new("pid", 8, :plain, :pid.to_proc), Column.new("req/s", 6, :decimal, :throughput_per_s.to_proc),
          Column.new("busy", 5, :decimal, :busy_mean.to_proc), Column.new("threads", 10, :strip, ->(row) { row }),
          Column.new("queue", 5, :decimal, :queued_mean.to_proc), Column.new("cpu", 5, :percent, :cpu_ratio.to_proc),
          Column.new("MiB PSS", 7, :mib, :pss_bytes.to_proc), Column.new("YJIT code", 9, :yjit, ->(row) { row })
        ],
        threads: [
          Column.new("thread (of no request)", nil, :text, :name.to_proc),
          Column.new("cpu", 6, :percent, :cpu_ratio.to_proc),
          Column.new("makes wait ms", 13, :ms, :made_wait_ns.to_proc), Column.new("budget", BAR, :bar, :budget.to_proc)
        ]
      }.freeze

      # By what rows are sorted; the largest first, and names as they are.
      ORDERS = {
        requests: ->(row) { -row.requests_count }, p99: ->(row) { -row.p99_ns.to_i },
        time: ->(row) { -row.budget.wall_ns }, name: :name.to_proc,
        worker: ->(row) { row.worker_index || -1 }, cpu: ->(row) { -row.cpu_ratio.to_f },
        memory: ->(row) { -row.pss_bytes.to_i }, queue: ->(row) { -row.queued_mean.to_f },
        made_wait: ->(row) { -row.made_wait_ns }
      }.freeze

      PRINTED = {
        plain: :to_s.to_proc, decimal: Units.method(:significant), count: Report::Figures.method(:count),
        ms: Units.method(:milliseconds), tail: Units.method(:milliseconds), mib: Report::Figures.method(:mib),
        percent: ->(ratio) { format("%.0f%%", ratio * 100) }
      }.freeze

      # Kinds whose values can be subtracted.
      NUMBERS = %i[decimal count ms tail mib percent].freeze

      # Kinds whose values become another's when an end is cut off.
      WHOLE = [*NUMBERS, :plain, :yjit].freeze

      KEYS = "e/w/t view  s sort  space freeze  d diff  p profile  n snapshot  ? help  q quit"

      HELP = <<~TEXT.lines(chomp: true).freeze
        e  endpoints: requests/s, how many (n), their p50 and p99, where time goes
        w  workers: threads with a request and requests in the queue (means), CPU, ...
        t  threads that serve no requests, and how long requests waited for them
        s  sort by the next figure
        space  freeze the screen, and go on
        d  what is now, less the frozen screen
        p  profile slow requests of the first endpoint for 5 s (perf; CPU time)
        n  write an observation of the last window, for predict, advise and report
        q  quit
        ~  before a p99 of fewer than 100 requests
        what if: forecasts for the traffic of now at workers x threads, 95% intervals
        recommended: as the server's own lines say, by forecasts of many more settings
      TEXT

      # @param columns [Integer] of the terminal
      # @param rows [Integer, nil] nil: as many as it takes, for nobody who presses keys
      # @param color [Boolean]
      def initialize(columns: 80, rows: nil, color: false)
        @columns = columns
        @rows = rows
        @color = color
      end

      # @param now [Status]
      # @param view [View]
      # @return [Array<String>] lines
      def lines(now, view = View.first)
        status = view.shown(now)
        head = head(status, view)
        return [*head, *help].first(@rows || 99) if view.help
        foot = foot(status, view)
        foot.shift while foot.size > 1 && @rows && head.size + 1 + LEAST_ROWS + foot.sum(&:size) > @rows
        room = @rows && [@rows - head.size - 1 - foot.sum(&:size), 1].max
        [*head, *table(status, view, room), *foot.flatten].first(@rows || 9_999)
      end

      private

      def head(status, view)
        [paint(clip(Report::TopWords.sentence(status.diagnosis)), "1"), clip(about(status)),
          clip(about_top(status, view))]
      end

      def about(status)
        p50, p99 = [status.p50_ns, status.p99_ns].map { |ns| Units.milliseconds(ns) }
        [status.topology, "#{Units.rate(status.throughput_per_s)} req/s", "p50 #{p50} ms, p99 #{p99} ms",
          "#{Report::Figures.counted(status.requests_count, "request")} in " \
            "#{format("%.1f", status.window_ns.fdiv(Units::NS_PER_S))} s",
          "#{status.pid} #{Report::Figures.printable(status.folder)}"].compact.join(" | ")
      end

      def about_top(status, view)
        [("FROZEN" if view.frozen && !view.difference), ("DIFFERENCE TO THE FROZEN SCREEN" if view.difference),
          "by #{view.sort.to_s.tr("_", " ")}", cost(status.cost),
          *status.why_not&.then { |reason| Report::Figures.printable(reason) }].compact.join(" | ")
      end

      def cost(cost)
        return unless cost
        outlook = cost.outlook_ratio&.then { |ratio| ", its forecasts #{Units.percent(ratio)}" }
        "top takes #{Units.percent(cost.status_ratio)} of a core#{outlook}"
      end

      # @return [Array<Array<String>>] blocks of lines, of which the first are left out first
      def foot(status, view)
        message = Report::TopWords.message(view.message)
        recommended = Report::TopWords.recommendation(status.recommendation)
        [(PARTS_PAGES.include?(view.page) ? [legend] : []), outlook(status.outlook),
          ([clip("recommended: #{recommended}")] if recommended),
          ([message ? paint(clip(message), "1") : paint(clip(KEYS), "2")] if @rows)].compact
      end

      # Whose rows have a budget.
      PARTS_PAGES = %i[endpoints threads].freeze
      private_constant :PARTS_PAGES

      def legend
        words = PARTS.map { |part, (letter, *)| [letter, Report::Parts.named(part).word] }
        return clip(words.map { |letter, word| "#{letter} #{word}" }.join("  ")) unless @color
        PARTS.keys.zip(words).map { |part, (_, word)| "#{block(part, 1)} #{word}" }.join("  ")
      end

      def outlook(outlook)
        why_not = Report::TopWords.why_no_forecast(outlook)
        return [clip("what if: no forecast; #{why_not}")] if why_not
        settings = outlook.settings
        width = [(@columns - LABEL) / settings.size, 5].max
        row = ->(label, cells) { clip(label.ljust(LABEL) + cells.map { |cell| cell.rjust(width) }.join) }
        [row.call("what if", settings.map { |one| "#{one.topology}#{" now" if one == outlook.today}" }),
          row.call("req/s", settings.map { |one| told(one, :throughput_per_s, width - 1, :significant) }),
          row.call("p99 ms", settings.map { |one| told(one, :p99_ns, width - 1, :milliseconds) })]
      end

      LABEL = 8
      private_constant :LABEL

      LEAST_WIDTH = 12
      private_constant :LEAST_WIDTH

      # With its interval; where there is no room, the interval alone.
      def told(setting, name, width, unit)
        return "overload" if setting.unsteady
        estimate, printed = setting.public_send(name), Units.method(unit)
        text = Report::Figures.with_range(estimate, &printed)
        (text.length <= width) ? text : Report::Figures.range(estimate, &printed)
      end

      def help
        letters = PARTS.map do |part, (letter, *)|
          "   #{letter} #{Report::Parts.named(part).word}: #{Report::Parts.named(part).meaning}"
        end
        [*HELP, *letters].map { |line| clip(line) }
      end

      def table(status, view, room)
        rows = rows_of(status, view.page).sort_by.with_index { |row, index| [ORDERS.fetch(view.sort).call(row), index] }
        shown = (room && rows.size > room) ? rows.first([room - 1, 0].max) : rows
        left_count = rows.size - shown.size
        earlier = rows_of(view.held_against, view.page).to_h { |row| [identity(row), row] } if view.held_against
        columns = sized(PAGES.fetch(view.page).map { |column| wide_enough(column, shown, earlier) })
        lines = [paint(row_of(columns.map { |column, width| align(column.heading, width, column) }), "4"),
          *shown.map { |row| row_of(columns.map { |column, width| cell(column, width, row, earlier) }) },
          *("  and #{left_count} more" if left_count.positive?)]
        (room && lines.size < room + 1) ? lines + [""] * (room + 1 - lines.size) : lines
      end

      def rows_of(status, page)
        status.public_send({endpoints: :endpoints, workers: :workers, threads: :background}.fetch(page))
      end

      def identity(row)
        case row
        when EndpointStatus then [row.kind, row.name]
        when WorkerStatus then row.worker_index
        else row.name
        end
      end

      def row_of(cells) = cells.join(" ").rstrip

      def wide_enough(column, rows, earlier)
        return column unless WHOLE.include?(column.kind)
        column.with(width: [column.width, *rows.map { |row| number(column, row, earlier).length }].max)
      end

      # Columns without a width share what is left; where there is too little of it, the last ones are left out.
      def sized(columns)
        fixed = columns.filter_map(&:width)
        free = columns.size - fixed.size
        left = @columns - fixed.sum - columns.size + 1
        return sized(columns[..-2]) if left < free * LEAST_WIDTH && columns.size > 1
        columns.map { |column| [column, column.width || (left / free + ((column.kind == :text) ? left % free : 0))] }
      end

      def align(text, width, column) = column.left? ? text[0, width].ljust(width) : text[0, width].rjust(width)

      def cell(column, width, row, earlier)
        value = column.value.call(row)
        case column.kind
        when :text then Report::Figures.shortened(value, width).ljust(width)
        when :cause then Report::Figures.shortened(Report::TopWords.cause(value), width).ljust(width)
        when :bar then bar(value)
        when :strip then strip(value, width)
        else align(number(column, row, earlier), width, column)
        end
      end

      def number(column, row, earlier)
        value = column.value.call(row)
        return yjit(value) if column.kind == :yjit
        before = earlier && earlier[identity(row)]&.then { |one| column.value.call(one) }
        return difference(column, value, before) if earlier && NUMBERS.include?(column.kind)
        return "-" unless value
        few = "~" if column.kind == :tail && row.requests_count < FEW
        "#{few}#{PRINTED.fetch(column.kind).call(value)}"
      end

      def difference(column, value, before)
        return "-" unless value
        return "new" unless before
        change = PRINTED.fetch(column.kind).call((value - before).abs)
        return "=" if change.match?(/\A[0.]+%?\z/)
        "#{(value > before) ? "+" : "-"}#{change}"
      end

      def yjit(row)
        return row.yjit || "-" unless row.yjit == "on" && row.code_bytes
        Units.mebibytes(row.code_bytes)
      end

      # One sign for each thread of the pool, as many as were busy in the mean.
      def strip(row, width)
        return "-".ljust(width) unless row.threads_count && row.busy_mean
        busy_count = row.busy_mean.round.clamp(0, row.threads_count)
        return "#{busy_count}/#{row.threads_count}".ljust(width) if row.threads_count > width - 2
        "[#{"#" * busy_count}#{"." * (row.threads_count - busy_count)}]".ljust(width)
      end

      # Parts in letters, those with the largest remainders rounded up, so that they fill the bar.
      def bar(budget)
        return "?" * 1 + " " * (BAR - 1) if budget.nil? || budget.gvl_wait_ns.nil? || !budget.wall_ns.positive?
        exact = PARTS.keys.to_h { |part| [part, [budget.share_ratio(part) || 0.0, 0.0].max * BAR] }
        counts = exact.transform_values(&:floor)
        left = [exact.values.sum.round.clamp(0, BAR) - counts.values.sum, 0].max
        exact.max_by(left) { |part, width| width - counts[part] }.each { |part, _| counts[part] += 1 }
        counts.sum("") { |part, count| block(part, count) } + " " * [BAR - counts.values.sum, 0].max
      end

      def block(part, count)
        letter, background, foreground = PARTS.fetch(part)
        return "" if count.zero?
        paint(letter * count, "38;5;#{foreground};48;5;#{background}")
      end

      def clip(text) = (text.length > @columns) ? "#{text[0, @columns - 1]}…" : text

      def paint(text, codes) = @color ? "\e[#{codes}m#{text}\e[0m" : text
    end
  end
end
