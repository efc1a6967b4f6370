# frozen_string_literal: true

require_relative "../workload"

module Accuracy
  # Short-lived objects beside many that live: collections that mark and sweep. On one thread, for Ruby counts the CPU time of
  # its collector for the whole process.
  class Garbage < Workload
    def start_threads
      @live = Array.new(200_000) { |number| "live #{number}" }
      # Leaves room in the heap, so that not every collection has to be one of everything.
      Array.new(200_000) { |number| "spare #{number}" }
    end

    private

    def work
      end_ns = cpu_now_ns + ms(600)
      1_000.times { |number| "short-lived #{number}" } while cpu_now_ns < end_ns
    end
  end
end
