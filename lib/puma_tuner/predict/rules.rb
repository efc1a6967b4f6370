# frozen_string_literal: true

module PumaTuner
  module Predict
    # What differs between versions of Puma and Ruby, as figures of a Plan.
    module Rules
      # What a pool thread does with a connection after the answer. Codes as in ext/puma_tuner_sim/sim.h.
      AFTER_ANSWER = {park: 0, poll_todo: 1, poll_inline: 2}.freeze

      # Puma source, server.rb and thread_pool.rb at the tags named.
      #
      # after_answer: park (6.x): the thread itself waits park_ns for the next request of its connection; poll: it looks once, and
      #   hands what is there to the todo list (7.0), or serves it when another thread is idle (7.1 and newer); else the reactor
      #   watches the connection
      # inline_max: 6.x: after so many requests the connection goes to the reactor when others wait, and is closed when no thread
      #   is free and the listener has somebody waiting
      # gate: 6.x accepts only while a thread is free
      # busy_delay_ns: 6.x in a cluster: so long a busy worker leaves a connection to others, unless a thread gets free
      # overload_delay_ns, overload_factor: 7.0.4 and newer in a cluster: a worker with b requests sleeps
      #   overload_delay x min(b, factor x threads) / (factor x threads) before it accepts
      PUMA = {
        "6" => {after_answer: AFTER_ANSWER[:park], park_ns: 200_000_000, inline_max: 10, gate: 1, busy_delay_ns: 5_000_000, overload_delay_ns: 0, overload_factor: 1},
        "7.0" => {after_answer: AFTER_ANSWER[:poll_todo], park_ns: 0, inline_max: 0, gate: 0, busy_delay_ns: 0, overload_delay_ns: 5_000_000, overload_factor: 25},
        "7.1" => {after_answer: AFTER_ANSWER[:poll_inline], park_ns: 0, inline_max: 0, gate: 0, busy_delay_ns: 0, overload_delay_ns: 5_000_000, overload_factor: 25}
      }.freeze

      # Ruby source, thread_pthread.c: 3.1 and 3.2 let whoever comes first take a GVL that was let go; 3.3 to 4.0 hand it over,
      # first come, first served; from 4.1 on one that is back from a short call before its successor has begun takes it back.
      GVL = {fifo: 0, barging: 1, hot: 2}.freeze

      DEFAULT_TIMESLICE_MS = 100
      TICK_MS = 10

      module_function

      # With queue_requests false, every Puma accepts as it does otherwise, but those after 8.0.2: they have Puma 6's gate again, and no
      # delay (PR 3969, server.rb).
      #
      # @param version [String, nil] of Puma; nil: the newest
      # @return [Hash{Symbol => Integer}]
      def puma(version, queue_requests: true)
        number = Gem::Version.new(version || "8")
        return PUMA["6"] if number < Gem::Version.new("7")
        rules = PUMA[(number < Gem::Version.new("7.1")) ? "7.0" : "7.1"]
        (queue_requests || number <= Gem::Version.new("8.0.2")) ? rules : {**rules, gate: 1, overload_delay_ns: 0}
      end

      # @param version [String] of Ruby
      # @param measured [String, nil] the rule by which the GVL was seen to go on the machine itself; it goes before the version's
      # @return [Integer]
      def gvl(version, measured: nil)
        return GVL.fetch(measured.to_sym) if measured
        number = Gem::Version.new(version)
        return GVL[:barging] if number < Gem::Version.new("3.3")
        GVL[(number < Gem::Version.new("4.1.a")) ? :fifo : :hot]
      end

      # Whole ticks only: with RUBY_THREAD_TIMESLICE=15 a slice was measured to last 20 ms, with 1 it lasted 10. Ruby before 3.4
      # does not read it.
      #
      # @param timeslice_ms [Integer, nil]
      # @return [Integer]
      def ticks_per_slice(timeslice_ms, ruby_version)
        timeslice_ms = DEFAULT_TIMESLICE_MS if timeslice_ms.nil? || Gem::Version.new(ruby_version) < Gem::Version.new("3.4.a")
        [timeslice_ms.fdiv(TICK_MS).ceil, 1].max
      end
    end
  end
end
