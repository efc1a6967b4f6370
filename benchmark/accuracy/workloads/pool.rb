# frozen_string_literal: true

require "connection_pool"
require_relative "waiting"

module Accuracy
  # What a database pool that is too small does to an app. Each thread sleeps with the connection, then for a moment without,
  # or the one that gives it back would take it again at once.
  class StarvedPool < LockWait
    CONNECTED_MS = 20
    APART_MS = 4
    TURNS_COUNT = 8
    WAITS_COUNT = 3 * TURNS_COUNT

    def start_threads
      @pool = ConnectionPool.new(size: 1, timeout: 30) { Object.new }
      3.times { beside { use until @stopped } }
    end

    def stop
      @stopped = true
    end

    private

    # There is but one connection: whoever comes next got it by this return.
    def use
      @pool.with do
        sleep_ns(ms(CONNECTED_MS))
        @returned_ns = @watch.now_ns
      end
      sleep_ns(ms(APART_MS))
    end

    def work
      TURNS_COUNT.times do
        until_stamped { @pool.checkout && @returned_ns || 0 }
        @watch.during(:sleep) { sleep_ns(ms(CONNECTED_MS)) }
        @pool.checkin
        @watch.during(:sleep) { sleep_ns(ms(APART_MS)) }
      end
    end
  end
end
