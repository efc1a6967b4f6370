# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes.
  #
  # One renderer to a file: a class with the kinds of document it can show in KINDS, whose instances turn a value into a
  # String with `call`. It is named in RENDERERS, and its test stands beside it.
  module Report
    autoload :AdviceWords, "puma_tuner/report/advice_words"
    autoload :Background, "puma_tuner/report/background"
    autoload :Cause, "puma_tuner/report/cause"
    autoload :ComparisonNotes, "puma_tuner/report/comparison_notes"
    autoload :ComparisonRows, "puma_tuner/report/comparison_rows"
    autoload :Contents, "puma_tuner/report/contents"
    autoload :CostDiffFigures, "puma_tuner/report/cost_diff_figures"
    autoload :CostFigures, "puma_tuner/report/cost_figures"
    autoload :EndpointGroups, "puma_tuner/report/endpoint_groups"
    autoload :Facts, "puma_tuner/report/facts"
    autoload :Figures, "puma_tuner/report/figures"
    autoload :Findings, "puma_tuner/report/findings"
    autoload :FleetFigures, "puma_tuner/report/fleet_figures"
    autoload :Formulas, "puma_tuner/report/formulas"
    autoload :Glance, "puma_tuner/report/glance"
    autoload :Grid, "puma_tuner/report/grid"
    autoload :GvlHolders, "puma_tuner/report/gvl_holders"
    autoload :HowMeasured, "puma_tuner/report/how_measured"
    autoload :Marks, "puma_tuner/report/marks"
    autoload :Paint, "puma_tuner/report/paint"
    autoload :Parts, "puma_tuner/report/parts"
    autoload :SelfCheckWords, "puma_tuner/report/self_check_words"
    autoload :Summary, "puma_tuner/report/summary"
    autoload :SweepNotes, "puma_tuner/report/sweep_notes"
    autoload :Table, "puma_tuner/report/table"
    autoload :TradeoffFigures, "puma_tuner/report/tradeoff_figures"
    autoload :Unknowns, "puma_tuner/report/unknowns"
    autoload :WhatRan, "puma_tuner/report/what_ran"
    autoload :WorkNotes, "puma_tuner/report/work_notes"

    autoload :Html, "puma_tuner/report/html"
    autoload :Json, "puma_tuner/report/json"
    autoload :Markdown, "puma_tuner/report/markdown"
    autoload :Text, "puma_tuner/report/text"

    # In the order in which they are named to people.
    RENDERERS = {text: Text, html: Html, markdown: Markdown, json: Json}.freeze

    @others = {}

    class << self
      # @return [Array<Symbol>] what `render` understands
      def formats = RENDERERS.keys

      # For a kind of document that is not the gem's own.
      #
      # @param kind [Symbol]
      # @param renderers [Hash{Symbol => Class}] by format
      def add(kind, renderers) = @others[kind] = renderers

      # @param value [Data] any value with a kind
      # @param format [Symbol, String]
      # @param options [Hash] the renderer's own, such as `color: true` for text
      # @return [String]
      # @raise [UsageError] when there is no such format, or it cannot show such a value
      def render(value, format:, **options)
        raise UsageError, "#{format.to_s.inspect} is no format of a report; there are #{formats.join(", ")}" unless formats.include?(format.to_sym)
        kind = kind_of(value)
        able = @others.fetch(kind) { RENDERERS.select { |_, renderer| renderer::KINDS.include?(kind) } }
        renderer = able.fetch(format.to_sym) { raise UsageError, "a document of kind #{kind} cannot be shown as #{format}; ask for #{able.keys.join(" or ")}" }
        renderer.new(**options).call(value)
      end

      private

      def kind_of(value)
        kind = value.class::KIND if value.class.const_defined?(:KIND)
        kind or raise InvariantError, "a #{value.class} is no document"
      end
    end
  end
end
