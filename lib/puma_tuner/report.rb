# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes.
  #
  # Sections make a tree of blocks of a value (`Blocks`, `Sections`); writers print any such tree (`Writers`). JSON is
  # the value itself, as it stands in a file: every digit, nothing left out, to be read by programs.
  module Report
    autoload :AdviceWords, "puma_tuner/report/advice_words"
    autoload :Blocks, "puma_tuner/report/blocks"
    autoload :Columns, "puma_tuner/report/columns"
    autoload :CompareWords, "puma_tuner/report/compare_words"
    autoload :ComparisonRows, "puma_tuner/report/comparison_rows"
    autoload :Contents, "puma_tuner/report/contents"
    autoload :Facts, "puma_tuner/report/facts"
    autoload :Figures, "puma_tuner/report/figures"
    autoload :Findings, "puma_tuner/report/findings"
    autoload :Formulas, "puma_tuner/report/formulas"
    autoload :GoalWords, "puma_tuner/report/goal_words"
    autoload :Grid, "puma_tuner/report/grid"
    autoload :GvlHolders, "puma_tuner/report/gvl_holders"
    autoload :Html, "puma_tuner/report/html"
    autoload :Marks, "puma_tuner/report/marks"
    autoload :Paint, "puma_tuner/report/paint"
    autoload :Parts, "puma_tuner/report/parts"
    autoload :PatchWords, "puma_tuner/report/patch_words"
    autoload :ProofWords, "puma_tuner/report/proof_words"
    autoload :SelfCheckWords, "puma_tuner/report/self_check_words"
    autoload :Statements, "puma_tuner/report/statements"
    autoload :Summary, "puma_tuner/report/summary"
    autoload :SweepNotes, "puma_tuner/report/sweep_notes"
    autoload :TopWords, "puma_tuner/report/top_words"
    autoload :TrialWords, "puma_tuner/report/trial_words"
    autoload :UnifiedDiff, "puma_tuner/report/unified_diff"
    autoload :Unknowns, "puma_tuner/report/unknowns"
    autoload :Words, "puma_tuner/report/words"

    # What makes blocks: one section, or the whole of a kind of document, to a file.
    module Sections
      autoload :Advice, "puma_tuner/report/sections/advice"
      autoload :AdviceChecks, "puma_tuner/report/sections/advice_checks"
      autoload :Background, "puma_tuner/report/sections/background"
      autoload :Base, "puma_tuner/report/sections/base"
      autoload :Capacity, "puma_tuner/report/sections/capacity"
      autoload :Causes, "puma_tuner/report/sections/causes"
      autoload :CostDiff, "puma_tuner/report/sections/cost_diff"
      autoload :Demands, "puma_tuner/report/sections/demands"
      autoload :Fleet, "puma_tuner/report/sections/fleet"
      autoload :Forecasts, "puma_tuner/report/sections/forecasts"
      autoload :Foundations, "puma_tuner/report/sections/foundations"
      autoload :Glance, "puma_tuner/report/sections/glance"
      autoload :Holders, "puma_tuner/report/sections/holders"
      autoload :Lanes, "puma_tuner/report/sections/lanes"
      autoload :Load, "puma_tuner/report/sections/load"
      autoload :LogComparison, "puma_tuner/report/sections/log_comparison"
      autoload :Machine, "puma_tuner/report/sections/machine"
      autoload :Profile, "puma_tuner/report/sections/profile"
      autoload :Proof, "puma_tuner/report/sections/proof"
      autoload :Ran, "puma_tuner/report/sections/ran"
      autoload :Methodology, "puma_tuner/report/sections/methodology"
      autoload :SelfTest, "puma_tuner/report/sections/load"
      autoload :Sizing, "puma_tuner/report/sections/sizing"
      autoload :Status, "puma_tuner/report/sections/status"
      autoload :Tail, "puma_tuner/report/sections/tail"
      autoload :Threads, "puma_tuner/report/sections/threads"
      autoload :Tradeoff, "puma_tuner/report/sections/tradeoff"
      autoload :Trial, "puma_tuner/report/sections/trial"
      autoload :Tuning, "puma_tuner/report/sections/tuning"
      autoload :Works, "puma_tuner/report/sections/works"
    end

    # What prints blocks.
    module Writers
      autoload :Html, "puma_tuner/report/writers/html"
      autoload :Markdown, "puma_tuner/report/writers/markdown"
      autoload :Text, "puma_tuner/report/writers/text"
      autoload :Writer, "puma_tuner/report/writers/writer"
    end

    # In the order in which they are named to people.
    FORMATS = %i[text html markdown json].freeze

    # By kind of document, what makes its blocks. A kind that is not here is shown as JSON alone.
    PAGES = {
      observation: :Tuning, workload: :Tuning, machine: :Tuning, sweep: :Tuning, advice_list: :Tuning,
      verdict: :Tuning, tuning: :Tuning, load_outcome: :Load, load_self_test: :SelfTest,
      profile: :Profile, profile_diff: :CostDiff, tradeoff: :Tradeoff, fleet: :Fleet, lanes: :Lanes,
      status: :Status, trial: :Trial, log_comparison: :LogComparison
    }.freeze

    @others = {}

    class << self
      # @return [Array<Symbol>] what `render` understands
      def formats = FORMATS

      # For a kind of document that is not the gem's own.
      #
      # @param kind [Symbol]
      # @param sections [Class] whose instances make a Blocks::Page of a value
      # @param html [Class] a writer that knows charts of its own
      def add(kind, sections, html: Writers::Html) = @others[kind] = [sections, html]

      # @param value [Data] any value with a kind
      # @param format [Symbol, String]
      # @param options [Hash] the writer's own: `color: true` and `verbose: true` of text
      # @return [String]
      # @raise [UsageError] when there is no such format, or it cannot show such a value
      def render(value, format:, **options)
        check(format)
        kind = kind_of(value)
        return Document.dump(value) if format.to_sym == :json
        sections, html = @others.fetch(kind) { own(kind) }
        raise UsageError, "a document of kind #{kind} cannot be shown as #{format}; ask for json" unless sections
        page = sections.new(value).page
        case format.to_sym
        when :text then Writers::Text.new(**options).call(page)
        when :markdown then Writers::Markdown.new.call(page)
        else html.new(value).call(page)
        end
      end

      # @param section [Blocks::Section]
      # @return [String] HTML of it alone, for a page that has style and script of its own
      def section_html(section) = Writers::Html.new(nil).section(section)

      private

      def check(format)
        return if FORMATS.include?(format.to_sym)
        raise UsageError, "unknown report format #{format.to_s.inspect}; choose one of #{FORMATS.join(", ")}"
      end

      def own(kind) = [PAGES.key?(kind) && Sections.const_get(PAGES.fetch(kind)), Writers::Html]

      def kind_of(value)
        kind = value.class::KIND if value.class.const_defined?(:KIND)
        kind or raise InvariantError, "a #{value.class} is no document"
      end
    end
  end
end
