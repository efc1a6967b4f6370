# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes.
  #
  # One renderer to a file: a class with the kinds of document it can show in KINDS, whose instances turn a value into a
  # String with `call`. Its doc comment stands on top, its registration on the last line, its test beside it.
  module Report
    autoload :Background, "puma_tuner/report/background"
    autoload :Cause, "puma_tuner/report/cause"
    autoload :ClaimRows, "puma_tuner/report/claim_rows"
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
    autoload :PartsInside, "puma_tuner/report/parts_inside"
    autoload :SimulatedBudget, "puma_tuner/report/simulated_budget"
    autoload :Summary, "puma_tuner/report/summary"
    autoload :SweepNotes, "puma_tuner/report/sweep_notes"
    autoload :Table, "puma_tuner/report/table"
    autoload :TradeoffFigures, "puma_tuner/report/tradeoff_figures"
    autoload :WhatRan, "puma_tuner/report/what_ran"
    autoload :WorkNotes, "puma_tuner/report/work_notes"

    # Our own, in the order in which they are named to people.
    RENDERERS = %i[text html markdown json].freeze

    @renderers = {}

    class << self
      # @param format [Symbol] as people ask for it
      # @param renderer [Class]
      def register(format, renderer) = @renderers[format] = renderer

      # @return [Array<Symbol>] what `render` understands
      def formats = @renderers.keys

      # @param value [Data] any value with a kind
      # @param format [Symbol, String]
      # @param options [Hash] the renderer's own, such as `color: true` for text
      # @return [String]
      # @raise [UserMistake] when there is no such format, or it cannot show such a value
      def render(value, format:, **options)
        renderer = @renderers.fetch(format.to_sym) do
          raise UserMistake, "#{format.to_s.inspect} is no format of a report; there are #{formats.join(", ")}"
        end
        insist_on_kind(value, format, renderer)
        renderer.new(**options).call(value)
      end

      private

      def insist_on_kind(value, format, renderer)
        kind = value.class.const_defined?(:KIND) ? value.class::KIND : nil
        raise InvariantError, "a #{value.class} is no document" unless kind
        return if renderer::KINDS.include?(kind)
        able = @renderers.select { |_, other| other::KINDS.include?(kind) }.keys
        raise UserMistake, "a document of kind #{kind} cannot be shown as #{format}; ask for #{able.join(" or ")}"
      end
    end

    # Loaded at once: a renderer that is missing from a list of formats would be as good as absent.
    RENDERERS.each do |format|
      require_relative "report/#{format}"
      formats.include?(format) or raise InvariantError, "report/#{format}.rb registers no renderer #{format}"
    end
  end
end
