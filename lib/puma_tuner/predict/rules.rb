# frozen_string_literal: true

module PumaTuner
  module Predict
    # The differences between versions of Puma and Ruby, as figures of a Plan.
    module Rules
      # Puma source, server.rb, thread_pool.rb, client.rb and configuration.rb at the tags named;
      # test/integration/puma_rules_test.rb holds entries against real servers. From each version on:
      #
      # after_response: what a pool thread does with a connection then: park (6.x): the thread itself waits park_ns for
      #   the next request of its connection; poll: it looks once, and hands what is there to the todo list (7.0), or
      #   serves it when another thread is idle (7.1 and newer); else the reactor watches the connection. (7.0.0 to
      #   7.0.2 give it to the reactor without a look; poll_todo is the nearest.)
      # inline_max: 6.x: after so many requests the connection goes to the reactor when others wait, and is closed when
      #   no thread is free and the listener has somebody waiting
      # gate: 6.x accepts only while a thread is free; queueless_gate: the same of a server with queue_requests false
      # busy_delay_ns: 6.x in a cluster: so long a busy worker leaves a connection to others, unless a thread gets free;
      #   single_delay: before 6.5 a server without a cluster, too, where there is nobody to leave it to
      # overload_delay_ns, overload_factor: 7.0 and newer in a cluster: a worker with b requests sleeps overload_delay x
      #   min(b, factor x threads) / (factor x threads) before it accepts. (7.0.0 to 7.0.3 slept 0.1 ms x (1.5 b +
      #   connections of the reactor) / threads, of which the latter is left out, once all threads were busy.)
      # io_threads: whether it has max_io_threads
      PARK = {after_response: :park, park_ns: 200_000_000, inline_max: 10, gate: 1, queueless_gate: 1,
              busy_delay_ns: 5_000_000, single_delay: 0, overload_delay_ns: 0, overload_factor: 1, io_threads: 0}.freeze
      POLL = {after_response: :poll_inline, park_ns: 0, inline_max: 0, gate: 0, queueless_gate: 0, busy_delay_ns: 0,
              single_delay: 0, overload_delay_ns: 5_000_000, overload_factor: 25, io_threads: 0}.freeze

      PUMA = {
        "5.0" => {**PARK, busy_delay_ns: 0}.freeze,
        "6.0" => {**PARK, single_delay: 1}.freeze,
        "6.5" => PARK,
        "7.0" => {**POLL, after_response: :poll_todo, overload_delay_ns: 150_000 * 25}.freeze,
        "7.0.4" => {**POLL, after_response: :poll_todo}.freeze,
        "7.1" => POLL,
        "8.0" => {**POLL, io_threads: 1}.freeze,
        "8.0.3" => {**POLL, io_threads: 1, queueless_gate: 1}.freeze # main of July 2026, after 8.0.2
      }.freeze
      private_constant :PARK, :POLL

      DEFAULT_TIMESLICE_MS = 100
      TICK_MS = 10

      module_function

      # The features of the observed Puma come before its version: a checkout has the number of the release before it,
      # and patches have none.
      #
      # @param version [String, nil] of Puma; nil: the newest release
      # @param features [Array<String>, nil] see Probe::Puma; nil: not seen
      # @param queue_requests [Boolean] Puma's option
      # @return [Hash{Symbol => Integer, Symbol}] after_response is a Symbol
      def puma(version, features: nil, queue_requests: true)
        figures = since(version || "8.0.2")
        figures = seen(figures, features) if features
        return figures if queue_requests || figures[:queueless_gate].zero?
        {**figures, gate: 1, overload_delay_ns: 0} # one or the other (PR 3969)
      end

      # @return [Hash{Symbol => Integer}]
      def since(version)
        number = Gem::Version.new(version)
        PUMA.reverse_each.find { |first, _| Gem::Version.new(first) <= number }&.last || PUMA.fetch("5.0")
      end
      private_class_method :since

      def seen(figures, features)
        parks = features.include?("park")
        figures = PUMA.fetch(parks ? "6.5" : "7.1") unless parks == figures[:park_ns].positive?
        has = ->(feature) { features.include?(feature) ? 1 : 0 }
        {**figures, gate: has["accept_gate"], queueless_gate: [has["accept_gate"], has["queueless_gate"]].max,
                    io_threads: has["io_threads"], busy_delay_ns: has["busy_delay"] * figures[:busy_delay_ns],
                    overload_delay_ns: overload_delay_ns(figures, features)}
      end
      private_class_method :seen

      # Before 7.0.4 the delay had no class of its own.
      def overload_delay_ns(figures, features)
        usual_ns = PUMA.fetch("7.1")[:overload_delay_ns]
        return usual_ns if features.include?("overload_delay")
        (figures[:overload_delay_ns] == usual_ns) ? 0 : figures[:overload_delay_ns]
      end
      private_class_method :overload_delay_ns

      # Ruby source, thread_pthread.c: 3.1 and 3.2 let whoever comes first take a GVL that was let go; 3.3 to 4.0 hand
      # it over, first come, first served; from 4.1 on one that is back from a short call before its successor has begun
      # takes it back.
      #
      # @param version [String] of Ruby
      # @param measured [String, nil] the rule that its GVL was seen to go by, which comes before its version's
      # @return [Symbol] :fifo, :barging or :hot
      def gvl(version, measured: nil)
        return measured.to_sym if measured
        number = Gem::Version.new(version)
        return :barging if number < Gem::Version.new("3.3")
        (number < Gem::Version.new("4.1.a")) ? :fifo : :hot
      end

      # Whole ticks only: with RUBY_THREAD_TIMESLICE=15 a slice was measured to last 20 ms, with 1 it lasted 10. Ruby
      # before 3.4 does not read it.
      #
      # @param timeslice_ms [Integer, nil]
      # @return [Integer]
      def ticks_per_slice(timeslice_ms, ruby_version)
        if timeslice_ms.nil? || Gem::Version.new(ruby_version) < Gem::Version.new("3.4.a")
          timeslice_ms = DEFAULT_TIMESLICE_MS
        end
        [timeslice_ms.fdiv(TICK_MS).ceil, 1].max
      end
    end
  end
end
