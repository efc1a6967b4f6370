# frozen_string_literal: true

module PumaTuner
  module Report
    # What was found, recommended, predicted and proven, in sentences: the same in the terminal, in HTML and in
    # Markdown.
    class Summary
      # kind: of LABELS
      Point = Data.define(:kind, :text) do
        def label = LABELS.fetch(kind)
      end

      LABELS = {
        doubts: "Beware", found: "Found", recommended: "Recommended", predicted: "Predicted", goal: "Goal",
        proven: "Proven", expected: "Asked for", cause: "Cause", remarks: "Remarks"
      }.freeze

      # A forecast's bottleneck in a sentence.
      LIMITS = {"threads" => "the number of threads", "gvl" => "the GVL", "cores" => "the cores",
                "clients" => "the number of connections", "none" => "nothing"}.freeze

      RAISE = "raise --connections to learn what the server bears"
      private_constant :RAISE

      # @param contents [Contents]
      def initialize(contents)
        @contents = contents
      end

      # @return [Array<Point>] one for each stage that was reached
      def points
        texts = {doubts:, found:, recommended:, predicted:, goal:, proven:, expected:, cause:, remarks:}
        texts.filter_map { |kind, text| Point.new(kind:, text:) if text }
      end

      # @return [String, nil] what the proof was asked to show, and whether it did
      def expected
        expectations = @contents.verdict&.expectations.to_a
        return if expectations.empty?
        told = expectations.map do |expectation|
          named = !several? || expectation.text.include?(expectation.variant)
          "#{expectation.text}#{" of #{expectation.variant}" unless named} is #{"not " unless expectation.shown}shown" \
            "#{" (#{Statements.words(expectation.reason)})" if expectation.reason}"
        end
        "#{told.join("; ")}."
      end

      # @return [String, nil] what the goals take, where there were some and forecasts to trust
      def goal
        sizing = @contents.advice_list&.sizing
        "#{GoalWords.in_short(sizing)}." if sizing
      end

      private

      # Before all else: whatever follows rests on a model that misses what it was made from.
      def doubts = SelfCheckWords.in_short(@contents.sweep&.self_check)

      def found
        observation = @contents.observation or return
        parts = Parts.largest(observation.budget, 3)
          .map { |part, ratio| "#{Units.percent(ratio)} #{part.word} (#{part.meaning})" }
        topology = " at #{observation.topology}" if observation.topology
        facts = Facts.new(observation)
        [
          "#{facts.counted} in #{Units.duration(observation.duration_ns)}#{topology}: #{Figures.list(facts.rates)}.",
          *[facts.recorded, facts.development].compact.map { |sentence| "#{sentence}." },
          ("Of their time, #{Figures.list(parts)}." if parts.any?),
          limit
        ].compact.join(" ")
      end

      def limit
        forecast = @contents.forecast_today or return
        model = "By the model#{assumption}"
        return "#{model}, there is no steady state: #{Statements.words(forecast.unsteady)}." unless forecast.steady?
        verb = (forecast.bottleneck == "cores") ? "limit" : "limits"
        "#{model}, #{LIMITS.fetch(forecast.bottleneck, forecast.bottleneck)} #{verb} it" \
          "#{" at this rate" if forecast.bottleneck == "none"}#{": #{RAISE}" if too_few_clients?}."
      end

      # Where they are our own, and not the app's traffic.
      def too_few_clients? = @contents.forecast_today.too_few_clients? && @contents.observation.load

      def assumption
        what_if = @contents.sweep.what_if.to_a
        " and assuming #{Figures.list(what_if)}" if what_if.any?
      end

      def recommended
        told = [*titles(@contents.before_topology), *of_topology]
        told.join(" ") if told.any?
      end

      def of_topology
        advice = @contents.recommendation or return unrecommended
        return "Stay with #{advice.topology} (#{Figures.topology(advice.topology)})." if @contents.stay?
        from = " instead of #{@contents.today}" if @contents.today
        told = "#{advice.topology} (#{Figures.topology(advice.topology)})#{from}: #{AdviceWords.words(advice.change)}."
        [told, *AdviceWords.words(@contents.by_proof)].join(" ")
      end

      def unrecommended
        return unless @contents.measure_first?
        some = "some of " if @contents.verdict && left_out.any?
        measured = "; #{some}the likeliest settings were measured beside today's" if @contents.other_cells.any?
        "Nothing without a measurement, as the model misses what it recorded#{measured}."
      end

      def predicted
        advice = @contents.recommendation or return
        return if @contents.stay? || advice.remark?
        return "A steady state, which #{@contents.today || "today's setting"} has not." unless advice.throughput_ratio
        latencies = {"p50" => advice.p50_ratio, "p99" => advice.p99_ratio}.compact
        ["#{Figures.ratio(advice.throughput_ratio)} today's throughput",
          *latencies.map { |name, ratio| "#{name} #{Figures.ratio(ratio)}" }].join(", ") +
          "; #{Figures.level(advice.throughput_ratio)}s over " \
          "#{Figures.counted(advice.throughput_ratio.samples_count, "simulation")}."
      end

      def proven
        verdict = @contents.verdict
        return ("Nothing: #{unproven}." if @contents.whole?) unless verdict
        return "Nothing: there was one variant only." if shown_cells.empty?
        # Of several variants there is too much to tell of each.
        findings = shown_cells.map { |cell| Findings.new(@contents, cell) }
        [*findings.map(&:sentence), *(findings.first.others if findings.one?), *ProofWords.starved(@contents),
          *ProofWords.behind(@contents), *left_out, *noisy(verdict)].join(" ")
      end

      # Variants that nobody asked for, with the reason.
      def left_out
        remarks = @contents.verdict.remarks.select { |remark| %i[left_out failed_at_look].include?(remark.kind) }
        remarks.map { |remark| "#{Statements.words(remark)}." }
      end

      # So much taken by others is worth a word where nobody reads further.
      NOISY_RATIO = 0.1
      private_constant :NOISY_RATIO

      def noisy(verdict)
        ratio = verdict.disturbed&.taken_ratio&.value
        ["Others took #{Units.percent(ratio)} of the machine meanwhile."] if ratio && ratio > NOISY_RATIO
      end

      # Its first line; what a server printed besides was told when it happened.
      def unproven
        return "the proof was left out" unless @contents.unproven
        Unknowns.reason(@contents.unproven).lines.first.chomp.chomp(".")
      end

      # Where the model is far off, others may be better than what is recommended.
      def shown_cells
        [(@contents.recommended_cell unless @contents.untrusted?) || @contents.other_cells].flatten
      end

      def several? = @contents.other_cells.size > 1

      def cause
        return unless @contents.verdict
        causes = @contents.verdict.causes.select { |one| shown_cells.map(&:variant).include?(one.variant) }
        told = causes.map do |one|
          "#{"#{one.variant}: " if causes.size > 1}#{Sections::Causes.sentence(one, @contents.noun)}"
        end
        told.join(" ") if told.any?
      end

      def remarks
        # That nothing is recommended stands above.
        above = @contents.no_recommendation if @contents.measure_first? || @contents.headline
        others = titles(@contents.other_advice - [above, *@contents.before_topology])
        others.join(" ") if others.any?
      end

      def titles(advice) = advice.map { |one| "#{AdviceWords.words(one.title)}." }
    end
  end
end
