# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the story's own benchmark says: its two profiles, its ten changes, two of its techniques.
    class IntrospectionFixtureMeasured
      FIRST = IntrospectionChanges::FIRST
      LAST = IntrospectionChanges::LAST
      WHOLE = IntrospectionChanges::WHOLE

      # As printed, of 1.3.0 and of master; nil: not printed. Class#new is told and claims nothing: newer Rubies need no call for it.
      PRINTED = {
        "FieldResult#initialize" => [1_748, nil], "FieldResolutionContext#initialize" => [1_960, 1_960], "MiddlewareChain#initialize" => [1_748, nil],
        "MiddlewareChain#call" => [3_496, nil], "MiddlewareChain#invoke_core" => [nil, 3_496], "ensure_defined" => [8_715, nil], "Array#shift" => [3_496, 0],
        "Warden#visible?" => [2_815, nil], "Module#===" => [25_403, 13_542], "Kernel#===" => [7_523, 7_523], "Kernel#is_a?" => [8_356, 8_260],
        "Class#new" => [6_893, 2_917]
      }.freeze
      ONLY_TOLD = %w[Class#new].freeze

      # @return [Hash{String => Prove::Verdict}] by change or technique
      attr_reader :verdicts

      # @param first [Hash] of fixture_counts.rb, of the gem 1.3.0
      # @param changes [Array<IntrospectionChanges::Change>] that could be had, the whole way first
      # @param counts [Hash{String => Hash}] of fixture_counts.rb, by commit
      # @param verdicts [Hash{String => Prove::Verdict}]
      def initialize(first:, changes:, counts:, verdicts:)
        @first = first
        @changes = changes
        @counts = counts
        @verdicts = verdicts
      end

      # @return [Array<Lab::Claim>]
      def claims = [Lab::Claim.of_count("fields of the story's own benchmark", expected: 1_748, counted: @first.fetch("fields"), published: "1,748"), *printed, *whole, *techniques]

      # @return [Array<Lab::Table>]
      def tables = [profiles, *(changes if @changes.any?), *verdicts.reject { |name, _| change?(name) }.map { |name, verdict| Lab::Times.of(verdict, title: name.capitalize) }]

      # @return [Array<String>]
      def conclusions = @changes.any? ? [objects_sentence, older_sentence] : []

      # @param quick [Boolean]
      # @return [Hash{String => String}]
      def unknown(quick)
        return {"the story's second profile, and its ten changes" => "graphql's repository is not here: `puma_tuner lab setup introspection` fetches it where there is a network"} if @changes.empty?
        return {} unless quick
        {"how much faster each of the story's ten changes made it" => "the short form counts their calls and objects only"}
      end

      private

      def change?(name) = @changes.any? { |change| change.what == name }

      def printed
        PRINTED.except(*ONLY_TOLD).flat_map do |method, (before, after)|
          [(of_count(method, "1.3.0", before, @first) if before), (of_count(method, "the story's master", after, @counts[LAST]) if after)].compact
        end
      end

      def of_count(method, version, expected, found)
        Lab::Claim.of_count("#{method} in #{version}, the story's own benchmark", expected:, counted: found&.dig("counts", method),
          published: expected.zero? ? "none" : Report::Figures.count(expected))
      end

      def whole
        verdict = verdicts[WHOLE] or return []
        [Lab::Claim.of_ratio("the story's master is faster than 1.3.0, its own benchmark", Lab::Ratios.speed(verdict, of: "after", over: "before"), published: "22.5 → 38 iterations/s, 1.7x", published_ratio: 38 / 22.5),
          Lab::Claim.of_ratio("the story's master allocates fewer objects than 1.3.0, its own benchmark", Lab::Ratios.of(verdict, "allocations_per_iteration", of: "after", over: "before"),
            published: "-58%, 0.42x", published_ratio: 0.42, note: "newer Rubies allocate fewer objects for the old code, too")]
      end

      # "Much faster" is a direction.
      def techniques
        blocks, one, many = ["a block, called", "a check, of one object", "a check, of 200 objects"].map { |title| verdicts["#{title}, YJIT off"] }
        return [] unless blocks
        [
          Lab::Claim.of_ratio("yield is faster than &block and call, YJIT off", Lab::Ratios.speed(blocks, of: "by_yield", over: "called"), published: "much faster", published_ratio: Lab::Claim::HIGHER),
          Lab::Claim.of_ratio("yield beside &block handed on, YJIT off", Lab::Ratios.speed(blocks, of: "by_yield", over: "handed_on")),
          *removed(one, "1"), *removed(many, "200")
        ]
      end

      def removed(verdict, count)
        %w[removed restored].map do |way|
          Lab::Claim.of_ratio("a check that has #{(way == "removed") ? "replaced itself" : "removed itself without a trace"}, beside one that is made each time, of #{Units.counted(count.to_i, "object")} in turn, YJIT off",
            Lab::Ratios.speed(verdict, of: "#{way}, #{count}", over: "checked, #{count}"))
        end
      end

      def profiles
        last = @counts[LAST]
        rows = PRINTED.map do |method, (before, after)|
          [method, *[before, @first["counts"][method], after, last && last["counts"][method]].map { |count| count ? Report::Figures.count(count) : "–" }]
        end
        Lab::Table.new(title: "The story's own benchmark: calls per query", headings: ["method", "1.3.0, published", "counted", "master, published", "counted"],
          rows: [*rows, *repeated(last), ["objects", "–", Report::Figures.count(@first["objects"]), "-58%", last ? Report::Figures.count(last["objects"]) : "–"]],
          notes: ["The schema of graphql's own tests, which comes with the gem of 1.3.0 and with each commit of its repository; nothing of it is in this one."])
      end

      # What the story's second technique is about: nobody published these.
      def repeated(last)
        @first["repeated"].map do |method, count|
          ["#{method}, again for equal inputs", "–", Report::Figures.count(count), "–", (last && last["repeated"][method])&.then { |one| Report::Figures.count(one) } || "–"]
        end
      end

      def changes
        rows = @changes.map do |change|
          before, after = [change.before, change.commit].map { |commit| @counts.fetch(commit) }
          speed = verdicts[change.what]&.then { |verdict| Report::Figures.ratio(Lab::Ratios.speed(verdict, of: "after", over: "before")) }
          [change.what, change.commit[0, 8], change.release || "–", *%w[total objects].flat_map { |what| [before, after].map { |found| Report::Figures.count(found.fetch(what)) } }, speed || "not measured"]
        end
        Lab::Table.new(title: "Who brought how much", rows:,
          headings: ["change", "commit", "first release", "calls before", "after", "objects before", "after", "times as fast"],
          notes: ["Each commit beside the one before it, on the schema of its own time. Two stood beside others on branches, so the steps do not multiply to the whole.",
            "The commit before \"yield in the place of &block\" had made things worse for a day: the middlewares became objects that are called, and an object for each call."])
      end

      def objects_sentence
        before, after = [FIRST, LAST].map { |commit| @counts.fetch(commit) }
        "In the story's own benchmark, calls fall from #{Report::Figures.count(before["total"])} to #{Report::Figures.count(after["total"])}, objects from #{Report::Figures.count(before["objects"])} to " \
          "#{Report::Figures.count(after["objects"])}, and ensure_defined from #{Report::Figures.count(before["counts"]["ensure_defined"])} to #{after["counts"]["ensure_defined"]}, which was published as 100% fewer."
      end

      def older_sentence
        older = IntrospectionChanges::CHANGES.select { |change| change.release == "1.3.0" }
        "#{older.size} of the ten changes that the story names were in 1.3.0 already (#{Report::Figures.list(older.map(&:what))}): they can't be part of what was gained since."
      end
    end
  end
end
