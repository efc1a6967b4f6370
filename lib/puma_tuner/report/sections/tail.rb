# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Is the tail made by threads or by garbage collection? Slow requests beside the others, part by part, and what
      # p99 would be without either.
      class Tail < Base
        # By the part in which slow requests differ most.
        ANSWERS = {
          gvl_wait: "by threads: slow requests wait for the GVL",
          gc: "by garbage collection in the requests themselves",
          queue: "by neither: slow requests wait in Puma for a thread",
          cpu: "by neither: slow requests compute more",
          io: "by neither: slow requests wait longer for sockets, files or a database",
          lock: "by threads: slow requests wait for locks",
          sleep: "by neither: slow requests sleep longer"
        }.freeze

        COLUMNS = [Column.new("part", meaning: "where a request's time goes"),
          Column.new("usual", :duration, meaning: "mean of all but the slow requests"),
          Column.new("slow", :duration, meaning: "mean of the slow ones"),
          Column.new("share", :share, meaning: "share of what slow requests take longer")].freeze

        # @param tail [Advise::Tail]
        def initialize(tail)
          @tail = tail
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "tail", title: "Is the tail made by threads or by garbage collection?",
            blocks: [Paragraph.new(answer), table, *forecasts.map { |text| Paragraph.new(text) }], brief: :alone)
        end

        private

        def answer
          "#{ANSWERS.fetch(@tail.cause).sub(/\A./, &:upcase)}. That is #{Units.percent(@tail.cause_ratio)} of what " \
            "the slowest #{Units.percent(1 - @tail.percentile_ratio)} take longer (#{@tail.slow_count} of " \
            "#{Units.counted(@tail.requests_count, "request")} recorded step by step)."
        end

        def table
          more_ns = @tail.parts.sum(&:more_ns)
          shown = @tail.parts.reject { |part| part.usual_ns.zero? && part.slow_ns.zero? }
          rows = shown.sort_by { |part| -part.more_ns }.map do |part|
            Row.new([Parts.named(part.name).word, part.usual_ns, part.slow_ns, part.more_ns / more_ns])
          end
          Table.new(COLUMNS, rows)
        end

        def forecasts
          {"without any garbage collection" => @tail.without_gc_ratio,
           "with one thread in each worker" => @tail.one_thread_ratio}
            .filter_map { |what, ratio| forecast(what, ratio) if ratio }
        end

        def forecast(what, ratio)
          "Predicted #{what}: p99 #{Figures.ratio(ratio)} today's, which is #{Units.duration(@tail.p99_ns.value)}" \
            "#{"; that may be none" if ratio.covers?(1)}."
        end
      end
    end
  end
end
