# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Where each pool thread's time went, idle left out.
      class Threads < Base
        # More lines than these tell nothing more.
        MOST = {brief: 8, text: 32}.freeze
        private_constant :MOST

        # @param contents [Contents]
        def initialize(contents)
          @contents = contents
        end

        # @return [Blocks::Section, nil]
        def section
          threads = @contents.observation&.threads
          return if threads.nil? || threads.empty?
          Section.new(id: "threads", title: "Threads: where their time went, without idle time", blocks: [
            Figure.new(id: "thread-budgets", blocks: [Chart.new(:threads, @contents.observation)],
              reading: "each bar is the time in which a pool thread was not idle; busy is that time's share of the " \
                "window. Threads that differ much from each other point at few, long requests."),
            Folded.new("The same in lines",
              [Lines.new(entries: entries(threads), noun: "thread", most: MOST, last: recommended)])
          ])
        end

        private

        # A worker's first thread has its name above it.
        def entries(threads)
          threads.group_by(&:worker_index).flat_map do |worker_index, group|
            group.each_with_index.map do |thread, index|
              [*("worker #{worker_index}" if worker_index && index.zero?),
                ThreadLine.format(thread.name, thread.budget), *ThreadLine.also(thread.budget)]
            end
          end
        end

        # In the probe's form, but what the simulation recommends and not what the rule of thumb does.
        def recommended
          topology = @contents.recommendation&.topology or return
          ThreadLine.recommendation(topology.threads_count, workers_count: topology.workers_count)
        end
      end
    end
  end
end
