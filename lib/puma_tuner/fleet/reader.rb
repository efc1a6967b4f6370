# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Asks, checks, compares.
    class Reader
      # The question that is asked.
      #
      # selectors: [a, b]; ends: of their windows, seconds since 1970, nil: now; duration_s: of both
      # step_s: length of the spans, nil: after the window's
      # source: "auto", "rules" or "raw"; by: the label that names services,
      #   nil: "service" where there is that, else "job"
      # all: Selector of the services told of; goals: Array<Goal> that both groups are held against
      Question = Data.define(:selectors, :ends, :duration_s, :step_s, :source, :by, :all, :seed, :goals) do
        def initialize(goals: [], **fields) = super
      end

      NAMES = %w[a b].freeze

      # @param prometheus [Prometheus]
      # @param question [Question]
      def initialize(prometheus, question)
        @prometheus = prometheus
        @question = question
        @random = Random.new(question.seed)
      end

      # @param command [String, nil] to repeat it
      # @return [Comparison]
      # @raise [Unanswered, InvalidMeasurement]
      def call(command: nil)
        # This query comes first, as its response tells what time it is over there.
        @prometheus.instant("vector(1)", Time.now.to_i)
        prepare
        groups = @question.selectors.zip(@windows, NAMES).map do |selector, window, name|
          spans_of(selector, window, name)
        end
        comparer = Comparer.new(*groups.map { |group| group[:spans] }, @windows.first.blocks,
          days: @windows.first.days?, random: @random)
        rows = comparer.rows
        Comparison.new(url: @prometheus.to_s, source: @source.to_s, **groups_of(groups, comparer), rows: rows.freeze,
          mix: MixComparer.new(comparer.pairs, days: @windows.first.days?, random: @random).call,
          services: services.freeze, block_s: @windows.first.block_s, blocks_count: comparer.pairs.size,
          warnings: warnings(groups).freeze, unknown: unknown(rows, comparer), command:,
          started_at: Time.now.utc.iso8601)
      end

      private

      def prepare
        now_s = Time.now.to_f - @prometheus.clock_ahead_s.to_f
        @windows = @question.ends.map do |ends_s|
          Window.of(ends_s || now_s, @question.duration_s, step_s: @question.step_s)
        end
        ensure_apart(*@windows.sort_by(&:begins_s)) if @question.selectors.uniq.one?
        @source = choose_source
        @health = Health.new(@prometheus, @source)
        @question.selectors.zip(@windows, NAMES) do |selector, window, name|
          @health.ensure_known(name, selector, window)
        end
        @health.ensure_labels("services", @question.all, @windows.last)
      end

      # Otherwise the time that both periods of one group hold would be compared with itself.
      def ensure_apart(first, last)
        if first == last
          raise UsageError, "both groups are the same; give --b another selector, " \
            "or another time with --a-end or --b-end"
        end
        overlap_s = first.ends_s - last.begins_s
        return unless overlap_s.positive?
        raise UsageError, "the two periods overlap by #{Units.duration(overlap_s * Units::NS_PER_S)}: " \
          "a --window of #{(last.ends_s - first.ends_s) / 60}m at most, " \
          "or ends that are further apart (--a-end, --b-end)"
      end

      # Endpoints are recorded every five minutes.
      RULES_LEAST_STEP_S = 300
      private_constant :RULES_LEAST_STEP_S

      # The rules' series, when they are fine enough, have the labels that are
      # asked for and reach back to where the window begins.
      def choose_source
        return @question.source.to_sym unless @question.source == "auto"
        return :raw if @windows.any? { |window| window.step_s < RULES_LEAST_STEP_S }
        if @question.selectors.zip(@windows).all? { |selector, window| recorded?(selector, window) } && labels_recorded?
          :rules
        else
          :raw
        end
      end

      def recorded?(selector, window)
        metric = selector.of(Queries::INFO.fetch(:rules))
        [window.begins_s + window.step_s, window.ends_s].all? do |time_s|
          @prometheus.instant("count(count_over_time(#{metric}[#{2 * window.step_s}s]))", time_s).any?
        end
      end

      # A matcher such as pod!="x" lets everything pass that has no such label, as the rules' series have none.
      def labels_recorded?
        [*@question.selectors, @question.all].flat_map(&:labels).uniq.all? do |label|
          @prometheus.label_values(label, Queries::COMMON.fetch(:rules), @windows.last).any?
        end
      end

      def spans_of(selector, window, name)
        reader = GroupReader.new(@prometheus, Queries.new(@source, selector, window.step_s), window)
        spans = reader.spans
        if @health.incomplete?(selector, window)
          spans = spans.map { |span| span.with(parts_s: span.parts_s.slice(*TOLD_BY_ALL)) }
        end
        {name:, selector:, window:, spans:, restarts_count: reader.restarts_count}
      end

      # Parts that servers without the extension tell, too. Of all others a sum over the group lacks what these servers
      # had, while their requests are counted.
      TOLD_BY_ALL = %w[queue].freeze
      private_constant :TOLD_BY_ALL

      def groups_of(groups, comparer)
        groups.each_with_index.to_h do |group, side|
          used = comparer.pairs.flatten(1).map { |pair| pair[side] }
          [group[:name].to_sym,
            Group.new(name: group[:name], selector: group[:selector].to_s, begins_at: iso(group[:window].begins_s),
              ends_at: iso(group[:window].ends_s), spans_count: group[:spans].size,
              usable_count: group[:spans].count(&:usable?), compared_count: used.size,
              requests_count: used.sum(&:requests_count).round, servers_count: mean(used.map(&:servers_count)),
              workers_count: mean(used.map(&:workers_count)), restarts_count: group[:restarts_count]&.round,
              attainments: attainments(used))]
        end
      end

      # @param spans [Array<Span>] that are compared
      # @return [Array<Stats::Attainment>] of the goals that any of their requests is about
      def attainments(spans)
        @question.goals.filter_map { |goal|
          histograms = spans.filter_map { |span| goal.endpoint ? span.endpoints[goal.endpoint] : span.histogram }
          next if histograms.empty?
          all = Measured.weighted(histograms)
          Stats::Attainment.of(goal, all.count_below(goal.limit_ns.fdiv(Units::NS_PER_S)), all.count) if all.count > 0
        }.freeze
      end

      def iso(time_s) = Time.at(time_s).utc.iso8601

      def mean(numbers) = (numbers.include?(nil) || numbers.empty?) ? nil : numbers.sum / numbers.size

      def services
        by = @question.by ||
          (@prometheus.label_values("service", Queries::INFO.fetch(@source), @windows.last).any? ? "service" : "job")
        ServiceReader.new(@prometheus, source: @source, selector: @question.all, window: @windows.last, by:).call
      end

      def warnings(groups)
        [
          *@health.of_clock,
          *groups.flat_map { |group| @health.warnings(*group.values_at(:name, :selector, :window, :spans)) },
          *@prometheus.warnings.map { |text| "Prometheus says that its response is partial: #{text}" },
          *groups.select { |group| group[:restarts_count]&.positive? }.map { |group| restarts(group) }
        ]
      end

      def restarts(group)
        "#{group[:name]}: servers restarted #{group[:restarts_count].round} times; " \
          "what they counted in the last seconds before is lost."
      end

      def unknown(rows, comparer)
        few = comparer.pairs.size < Stats::BlockBootstrap::BLOCKS_MIN
        [
          *rows.filter_map { |row| Unknown.of(:metric, :no_sample, whose: row.label) if row.a.nil? || row.b.nil? },
          (if few
             Unknown.of(:intervals, :few_blocks, blocks_count: comparer.pairs.size,
               needed_count: Stats::BlockBootstrap::BLOCKS_MIN)
           end),
          (Unknown.of(:restarts, :added_up_by_rules) if @source == :rules)
        ].compact.freeze
      end
    end
  end
end
