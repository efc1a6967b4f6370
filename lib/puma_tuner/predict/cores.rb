# frozen_string_literal: true

module PumaTuner
  module Predict
    # The cores, as a fluid that the runnable tasks share evenly: each gets a whole core, or, when there are more tasks
    # than cores, cores over tasks of one. The operating system's own slices are milliseconds, short against what is
    # asked of this simulation.
    #
    # All tasks advance at the same rate, so one running total of CPU per task serves them all: a task is done when the
    # total has grown by what the task asked for, however often the rate changed on the way.
    #
    # A task is anything with `burst_ended`. There are as many as workers, and one for the clients: few enough to search.
    class Cores
      def initialize(cores_count)
        @cores_count = cores_count
        @tasks = []
        @ends_ns = [] # where the running total must arrive, for the task of the same index
        @total_ns = 0
        @read_ns = 0
        @rate = 1
      end

      # @param cpu_ns [Integer] how much the task needs
      def start(task, cpu_ns, now_ns)
        read_total(now_ns)
        @tasks << task
        @ends_ns << @total_ns + cpu_ns
        share_out
      end

      # @return [Integer] nanoseconds of CPU that the task still needs
      def stop(task, now_ns)
        read_total(now_ns)
        [remove(@tasks.index(task)) - @total_ns, 0].max
      end

      # @return [Integer] when the next task will be done if nothing changes; NEVER_NS when none runs
      def due_ns
        @due_ns ||= @tasks.empty? ? EventQueue::NEVER_NS : @read_ns + [((@ends_ns.min - @total_ns) / @rate).ceil, 0].max
      end

      # Takes the task that is due off the cores; of several, the one that started first.
      def finish(now_ns)
        read_total(now_ns)
        index = @ends_ns.index(@ends_ns.min)
        task = @tasks[index]
        remove(index)
        task
      end

      private

      def remove(index)
        @tasks.delete_at(index)
        @ends_ns.delete_at(index).tap { share_out }
      end

      # Rounding moves an end by at most a nanosecond for each change of the rate.
      def read_total(now_ns)
        @total_ns += ((now_ns - @read_ns) * @rate).round
        @read_ns = now_ns
      end

      # The rate stays the Integer 1 while there are cores enough, which keeps the arithmetic exact.
      def share_out
        @due_ns = nil
        @rate = (@tasks.size <= @cores_count) ? 1 : @cores_count / @tasks.size.to_f
      end
    end
  end
end
