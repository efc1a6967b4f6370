# frozen_string_literal: true

require_relative "pool"
require_relative "waits"
require_relative "work"

module Demo
  # What the app has: one endpoint for each way in which a request can spend its time, and one that mixes two of them.
  # Bursts and waits are fixed amounts, so that a forecast can be held against what was asked for.
  class App
    TEXT = {"content-type" => "text/plain; charset=utf-8"}.freeze

    # A database pool that was sized for fewer threads than there are.
    STARVED_POOL_SIZE = 2

    def initialize
      @pool = Pool.new(STARVED_POOL_SIZE) { Waits.connect }
    end

    # @param env [Hash] Rack's
    # @return [Array] Rack's
    def call(env)
      case env["PATH_INFO"]
      when "/realistic" then answer(realistic)
      when "/io-only" then answer(Waits.wait(40))
      when "/cpu-only" then answer(Work.burn(15))
      when "/lock-bound" then answer(lock_bound)
      when "/allocating" then answer(Work.allocate)
      when "/" then answer(LIST)
      else [404, TEXT, ["There is no such page.\n"]]
      end
    end

    LIST = <<~TEXT
      /realistic   three bursts (about 15 ms in all) and three waits (35 ms) in turn
      /io-only     one wait of 40 ms
      /cpu-only    one burst of about 15 ms
      /lock-bound  a wait of 25 ms on one of #{STARVED_POOL_SIZE} connections that all threads share
      /allocating  a few megabytes of JSON, written and read: work for the garbage collector
    TEXT

    private

    def answer(result) = [200, TEXT, ["#{result}\n"]]

    # About 30% CPU, as the talk's model of a Rails API has it.
    def realistic
      Work.burn(4)
      Waits.wait(15)
      Work.burn(8)
      Waits.wait(12)
      Work.burn(3)
      Waits.wait(8)
    end

    def lock_bound
      Work.burn(1)
      @pool.with { |connection| connection.wait(25) }
    end
  end
end
