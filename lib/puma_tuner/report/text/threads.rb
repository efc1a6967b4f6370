# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where each pool thread's time went, idle left out.
      class Threads < Section
        # More lines than these tell nothing more; the other formats have them all.
        LINES_MAX = 32

        private

        def shown? = @contents.observation&.threads&.any?

        def heading = "Threads: where their time went, idle left out"

        def lines
          threads = @contents.observation.threads
          by_worker = threads.first(LINES_MAX).group_by(&:worker_index)
          lines = by_worker.flat_map { |worker_index, group| worker_lines(worker_index, group) }
          hidden_count = threads.size - LINES_MAX
          lines += note("#{Figures.counted(hidden_count, "thread")} more in the HTML report and in the JSON.") if hidden_count.positive?
          [*lines, recommended].compact
        end

        # In the probe's form, but what the simulation recommends and not what the rule of thumb does.
        def recommended
          topology = @contents.recommendation&.topology or return
          workers = " -w #{topology.workers_count}" if topology.workers_count > 1
          "#{ThreadLine.recommendation(topology.threads_count)}#{workers}"
        end

        def worker_lines(worker_index, threads)
          lines = threads.flat_map do |thread|
            [ThreadLine.format(Figures.printable(thread.name), thread.budget), ThreadLine.also(thread.budget)].compact
          end
          worker_index ? ["worker #{worker_index}", *lines] : lines
        end
      end
    end
  end
end
