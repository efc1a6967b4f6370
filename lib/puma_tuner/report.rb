# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes.
  #
  # Sections make a tree of blocks of a value (`Blocks`, `Sections`); writers print any such tree (`Writers`). JSON is
  # the value itself, as it stands in a file: every digit, nothing left out, to be read by programs.
  module Report
    PumaTuner.autoload_folder(self, "#{__dir__}/report")

    # What makes blocks: one section, or the whole of a kind of document, to a file.
    module Sections
    end
    PumaTuner.autoload_folder(Sections, "#{__dir__}/report/sections", load: %i[Load SelfTest])

    # What prints blocks.
    module Writers
    end
    PumaTuner.autoload_folder(Writers, "#{__dir__}/report/writers")

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
      # @param options [Hash] the writer's own: `color: true`, `verbose: true` and `width: 80` of text
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
