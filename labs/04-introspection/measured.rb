# frozen_string_literal: true

module PumaTuner
  module Labs
    # What introspection's answers, counts and rounds say: claims, tables, charts, sentences.
    class IntrospectionMeasured
      OLD = "1.3.0"
      NEW = "1.5.3"
      CLASSIC = "2.6.14"
      NEXT = "2.6.14, Next"
      CLASSIC_BESIDE_NEW = "#{CLASSIC} classic beside #{NEW}"

      PUBLISHED_SPEED = "22.5 → 38 iterations/s, 1.7x"
      PUBLISHED_SPEED_RATIO = 38 / 22.5

      PUBLISHED_OBJECTS = "-58%, 0.42x"
      PUBLISHED_OBJECTS_RATIO = 0.42

      # In 1.3.0, per field of the answer; the story's profile has 1,748 fields.
      PER_FIELD = {
        "MiddlewareChain#initialize" => [1, "1,748 of 1,748 fields"], "MiddlewareChain#call" => [2, "3,496 of 1,748 fields"],
        "FieldResult#initialize" => [1, "1,748 of 1,748 fields"], "Array#shift" => [2, "3,496 of 1,748 fields"]
      }.freeze

      # Of these, 1.5.3 makes none.
      GONE = %w[MiddlewareChain#initialize MiddlewareChain#call Array#shift].freeze

      # Per query, once the definitions have been made: of the types that the query itself names.
      ENSURE_DEFINED_LEFT = 4

      # @return [Hash{String => Prove::Verdict}] by Ruby and YJIT
      attr_reader :verdicts

      # @param answers [Hash{String => Hash}] by version
      # @param counts [Hash{String => Hash}] of counts.rb, by version
      # @param verdicts [Hash{String => Prove::Verdict}]
      # @param parsers [Hash{String => Prove::Verdict}] of the query's text
      def initialize(answers:, counts:, verdicts:, parsers: {})
        @parsers = parsers
        @answers = answers
        @counts = counts
        @verdicts = verdicts
      end

      # @return [Hash{String => Prove::Verdict}] those of the query's text, too
      def all_verdicts = {**verdicts, **@parsers.transform_keys { |name| "#{name}, with the query's text" }}

      # @return [Array<Lab::Claim>]
      def claims = [*speeds, *objects, *calls_in_old, *calls_in_new, *since_then]

      # @return [Array<Lab::Table>]
      def tables = [*times, calls, answers_table]

      # @return [Array<Lab::Chart>]
      def charts
        [
          chart("speed", "Introspection, from version to version", "iterations per second of CPU", "higher is faster", "cpu_per_iteration") { |ns| Units::NS_PER_S / ns },
          chart("objects", "Objects per introspection", "objects", "fewer is less garbage; beside the chart above: fewer objects are not always faster", "allocations_per_iteration") { |count| count }
        ]
      end

      # @return [Array<String>]
      def conclusions = [story_sentence, *classic_sentences, *next_sentences]

      # @return [Hash{String => String}]
      def unknown(quick)
        return {} unless quick
        {"other versions, Rubies, YJIT, the C parser" => "the short form measures #{@answers.keys.join(", ")} on one Ruby, without YJIT"}
      end

      private

      def ratio(verdict, of:, over:) = Lab::Ratios.speed(verdict, of:, over:)

      def speeds
        verdicts.map do |name, verdict|
          Lab::Claim.of_ratio("#{NEW} is faster than #{OLD}, #{name}", ratio(verdict, of: NEW, over: OLD), published: PUBLISHED_SPEED, published_ratio: PUBLISHED_SPEED_RATIO,
            note: "published of 1.5.0, which can't be installed; #{NEW} is the first 1.5 that can")
        end
      end

      # YJIT makes no fewer objects.
      def objects
        verdicts.reject { |name, _| name.end_with?("YJIT on") }.map do |name, verdict|
          Lab::Claim.of_ratio("#{NEW} allocates fewer objects than #{OLD}, #{name}", Lab::Ratios.of(verdict, "allocations_per_iteration", of: NEW, over: OLD),
            published: PUBLISHED_OBJECTS, published_ratio: PUBLISHED_OBJECTS_RATIO,
            note: "newer Rubies allocate fewer objects for the old code, too")
        end
      end

      def fields(version) = IntrospectionAnswers.response_fields_count(@answers.fetch(version))

      def calls_in_old
        PER_FIELD.map do |method, (times, published)|
          Lab::Claim.of_count("#{method} in #{OLD}, #{(times == 1) ? "once" : "twice"} per field", expected: times * fields(OLD), counted: count(OLD, method), published:,
            note: "the answer has #{Report::Figures.count(fields(OLD))} fields")
        end
      end

      def calls_in_new
        gone = GONE.map { |method| Lab::Claim.of_count("#{method} in #{NEW}", expected: 0, counted: count(NEW, method)) }
        left = IntrospectionAnswers.objects_count(@answers.fetch(NEW).fetch("data"))
        [*gone, Lab::Claim.of_count("FieldResult#initialize in #{NEW}, for fields that hold an object", expected: left, counted: count(NEW, "FieldResult#initialize"),
          note: "plain values and lists no longer have one"), Lab::Claim.of_count("ensure_defined in #{NEW}", expected: ENSURE_DEFINED_LEFT, counted: count(NEW, "ensure_defined"), published: "8,715, then \"100% fewer\"",
            note: "#{Report::Figures.count(count(OLD, "ensure_defined"))} in #{OLD}")]
      end

      def count(version, method) = @counts.fetch(version).fetch("counts").fetch(method)

      # Nobody published these: findings of our own.
      def since_then
        pairs = {CLASSIC_BESIDE_NEW => [CLASSIC, NEW], "Execution::Next beside classic #{CLASSIC}" => [NEXT, CLASSIC]}
        pairs.flat_map do |text, (of, over)|
          verdicts.map { |name, verdict| Lab::Claim.of_ratio("#{text}, #{name}", ratio(verdict, of:, over:)) }
        end
      end

      def times = all_verdicts.map { |name, verdict| Lab::Times.of(verdict, title: "Introspection: #{name}", heading: "graphql") }

      def calls
        methods = @counts.values.first.fetch("counts").keys
        rows = methods.map { |method| [method, *@counts.keys.map { |version| Report::Figures.count(count(version, method)) }] }
        Lab::Table.new(title: "Calls per query, by ruby-prof", headings: ["method", *@counts.keys],
          rows: [*rows, ["all calls", *@counts.values.map { |found| Report::Figures.count(found.fetch("total")) }]],
          notes: ["One schema with one rescue handler, which in #{OLD} puts a middleware into the chain that each field builds anew."])
      end

      def answers_table
        differences = @answers.transform_values { |answer| IntrospectionAnswers.differences(answer, @answers.fetch(CLASSIC)) }
        rows = @answers.map do |version, answer|
          [version, Report::Figures.count(IntrospectionAnswers.response_fields_count(answer)), Report::Figures.count(IntrospectionAnswers.own_fields_count(answer)),
            differences[version].empty? ? "the same" : Report::Figures.counted(differences[version].values.sum, "difference")]
        end
        Lab::Table.new(title: "The answers, beside #{CLASSIC}'s", headings: ["graphql", "fields", "of own types", "what they say of own types"], rows:,
          notes: ["Types that GraphQL itself defines are left out of the comparison: they grew from version to version.", *told_differences(differences)])
      end

      # Versions that differ in the same are told together.
      def told_differences(differences)
        differences.reject { |_, found| found.empty? }.group_by(&:last).map do |found, versions|
          "#{Report::Figures.list(versions.map(&:first))}: #{found.map { |words, count| "#{words} (#{Report::Figures.counted(count, "time")})" }.join("; ")}."
        end
      end

      def chart(id, title, name, reading, metric)
        names = @answers.keys
        series = verdicts.map do |title, verdict|
          points = verdict.cells.map do |cell|
            estimate = cell.estimates.fetch(metric)
            middle, *range = [estimate.value, estimate.low, estimate.high].map { |number| yield(number).to_f }
            [names.index(cell.variant), middle, *range.sort]
          end
          Lab::Series.new(title:, points:)
        end
        Lab::Chart.new(id:, title:, reading: "each point is the middle of the rounds, with their range; #{reading}. Lines only lead the eye.", series:,
          across: Lab::Axis.new(name: "graphql", ticks: names.each_with_index.map { |version, index| [index, version] }), up: Lab::Axis.new(name:))
      end

      def told(of:, over:) = Report::Figures.list(verdicts.map { |name, verdict| "#{Report::Figures.ratio(ratio(verdict, of:, over:))} (#{name})" })

      def story_sentence
        "From #{OLD} to #{NEW}, introspection became this many times as fast: #{told(of: NEW, over: OLD)}. What went are calls per field: " \
          "#{Report::Figures.list(GONE)}, #{Report::Figures.count(GONE.sum { |method| count(OLD, method) })} a query, then none."
      end

      # By the claim's interval, never by the middle.
      def classic_sentences
        decided = Lab::Claim.family(claims).to_h { |claim| [claim.text, claim] }
        verdicts.map do |name, verdict|
          claim = decided.fetch("#{CLASSIC_BESIDE_NEW}, #{name}")
          objects = Lab::Ratios.of(verdict, "allocations_per_iteration", of: CLASSIC, over: NEW)
          "#{name}: #{CLASSIC} classic is #{beside(claim)} #{NEW} was, #{Report::Figures.ratio(claim.measured)}, with #{Report::Figures.ratio(objects)} of its objects."
        end
      end

      def beside(claim)
        return "not shown to be faster or slower than" unless claim.outcome == :shown
        (claim.measured.high < 1) ? "slower than" : "faster than"
      end

      def next_sentences = ["Execution::Next, which asks each field once for all objects, is this many times as fast as classic #{CLASSIC}: #{told(of: NEXT, over: CLASSIC)}."]
    end
  end
end
