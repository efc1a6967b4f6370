# frozen_string_literal: true

module Demo
  # A connection pool as libraries have it: a few connections, a lock, and a condition to wait for one to come back.
  # When all are out, a thread waits here, and more threads only wait longer.
  class Pool
    # @param size [Integer] connections at most
    # @yieldreturn [Object] a new connection
    def initialize(size, &connect)
      @size = size
      @connect = connect
      @lock = Mutex.new
      @returned = ConditionVariable.new
      empty
    end

    # Lends a connection for as long as the block takes.
    def with
      connection = checkout
      begin
        result = yield connection
        healthy = true
        result
      ensure
        checkin(healthy ? connection : nil)
      end
    end

    private

    # A forked worker must not speak on its parent's connections.
    def empty
      @process = Process.pid
      @idle = []
      @lent_count = 0
    end

    def checkout
      idle = @lock.synchronize do
        empty unless @process == Process.pid
        @returned.wait(@lock) while @lent_count == @size
        @lent_count += 1
        @idle.pop
      end
      idle || connect
    end

    def connect
      connection = @connect.call
    ensure
      checkin(nil) unless connection
    end

    # A connection that was lent to a failure is not lent again.
    def checkin(connection)
      @lock.synchronize do
        @idle << connection if connection
        @lent_count -= 1
        @returned.signal
      end
    end
  end
end
