# frozen_string_literal: true

module SimulationTwin
  # A worker's thread pool with its todo list (worker.c).
  class Pool
    attr_reader :todo
    attr_accessor :waiting_count

    def initialize(simulation, worker)
      @settings = simulation.settings
      @worker = worker
      @threads = Array.new(@settings.threads_max + @settings.io_threads_max) { |index| PoolThread.new(simulation, worker, self, there: index < @settings.threads_min) }
      @idle = @threads.first(@settings.threads_min)
      @spawned_count = @waiting_count = @idle.size
      @io_bound_count = 0
      @todo = []
    end

    # @return [Integer] Puma's own figure: threads that are busy, and what waits for one
    def busy_count = @spawned_count - @waiting_count + @todo.size

    def add(connection)
      @todo << connection
      spawn_if_needed
      @idle.shift&.signal
    end

    # By a thread that has got the GVL.
    #
    # @return [Boolean] whether another thread of the pool had it before. Acceptor and reactor compute too little to count.
    def switch_to(thread)
      switched = @last && !@last.equal?(thread)
      @last = thread
      switched
    end

    # By a thread that has nothing to do.
    def rest(thread)
      @waiting_count += 1
      @idle << thread
      @worker.acceptor.thread_free
    end

    def spawn_if_needed
      return if @waiting_count >= @todo.size || !may_spawn?
      thread = @threads.find(&:gone?) or return
      @spawned_count += 1
      thread.spawn
    end

    def mark_io_bound
      @io_bound_count += 1
      spawn_if_needed
    end

    # @return [Boolean] whether the thread is one too many now, and ends
    def unmark_io_bound
      @io_bound_count -= 1
      return false if @spawned_count - @io_bound_count <= @settings.threads_max
      @spawned_count -= 1
      true
    end

    private

    def may_spawn?
      extra_count = [@io_bound_count - @settings.io_threads_max, 0].max
      @spawned_count - @io_bound_count < @settings.threads_max - extra_count
    end
  end
end
