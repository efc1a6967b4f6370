# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # A whole tuning, or one value of it, in the order of the flow: what was measured, where the time went, what other
      # settings would do, what to change, whether it held, what is not known.
      class Tuning < Base
        # @param value [Data] a tuning, or any document that is one of its values
        def initialize(value)
          @contents = Contents.of(value)
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: @contents.headline || Findings.title(@contents), lead: ("In short" if summary),
            date: @contents.recorded_at || observation&.started_at,
            conditions: ("#{Facts.new(observation).sentence}." if observation),
            head: [*summary, *Glance.new(@contents).table], command: @contents.command, whole: @contents.whole?,
            parts: [
              Part.new(id: "time", title: "Where the time goes", sections: time),
              Part.new(id: "model", title: "What the model has", sections: model),
              Part.new(id: "forecasts", title: "What other settings would do", sections: forecasts),
              Part.new(id: "advice", title: "What to change",
                sections: [@contents.advice_list && Advice.of(@contents),
                  @contents.advice_list&.sizing && Sizing.of(@contents),
                  @contents.advice_list&.tail && Tail.of(@contents.advice_list.tail)]),
              Part.new(id: "proof", title: @contents.whole? ? "Did it hold?" : "What the rounds showed",
                sections: proof),
              Part.new(id: "methodology", title: "Methodology", sections: [Foundations.of(@contents)])
            ])
        end

        private

        def observation = @contents.observation

        def summary
          points = Summary.new(@contents).points
          return if points.empty?
          Labelled.new(points.to_h { |point| [point.label, point.text] }, style: :points,
            beware: points.select { |point| point.kind == :doubts }.map(&:label))
        end

        def time
          return [] unless observation
          [Threads.of(@contents), Lanes.of_observation(observation), Works.of(observation.endpoints),
            Works.of(observation.jobs, "job"), Holders.of(observation), Background.of(observation)]
        end

        # Of a workload or a machine on its own, as a tuning shows what follows from them.
        def model
          return [] if @contents.sweep
          [@contents.workload && Demands.of(@contents.workload), @contents.machine && Machine.of(@contents.machine)]
        end

        # Of a search for the most load there are none where nothing holds.
        def forecasts
          return [] unless @contents.sweep
          [Capacity.of(@contents.sweep.capacities), *(Forecasts.of(@contents) if @contents.sweep.forecasts.any?)]
        end

        def proof
          sections = @contents.verdict ? [Proof, Causes, Ran, Methodology] : []
          [AdviceChecks, *sections].map { |section| section.of(@contents) }
        end
      end
    end
  end
end
