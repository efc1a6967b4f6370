# frozen_string_literal: true

module PumaTuner
  module Measure
    # How long each thread has the GVL, wants it, and does without. The extension replaces the methods below where it can
    # be had; elsewhere they answer that they know nothing, and `why_not` says why.
    module GvlClock
      # The places of a request's numbers, in the order the extension writes them; nanoseconds but for the last.
      NUMBERS = %i[window_since wall cpu preempted gvl_wait gc io lock sleep cpu_clock slices_count].freeze

      # The places of a thread's totals; nanoseconds but for the last. `held` is time with the GVL, GC included.
      TOTALS = %i[held gvl_wait io lock sleep idle gc slices_count].freeze

      class << self
        # Starts the clock for all threads of this process; once more after a fork, in the child.
        # @return [Boolean] whether it runs
        def start = false

        # Marks that this thread now serves a request.
        # @return [Boolean] false when it does already
        def request_begin = false

        # Marks the end of the request that this thread serves.
        # @param numbers [Array<Integer>] receives NUMBERS, so that nothing is allocated
        # @param with_trace [Boolean] whether to return the steps
        # @return [Array, true, false] [kind, ns, …] with a trace, true without; false when there was no request
        def request_end(numbers, with_trace) = false

        # @param thread [Thread]
        # @return [Array<Integer>, nil] TOTALS of the thread since it began, or since the clock was started
        def totals(thread) = nil

        # @return [Integer] GVL events seen so far, by threads that are still alive
        def events_count = 0

        # @return [Integer] threads that found no place (there are 1,024)
        def unobserved_threads_count = 0

        # @param rounds [Integer] how often to repeat
        # @return [Integer] nanoseconds that one event costs, timed here and now
        def cost_per_event_ns(rounds) = 0

        # @return [String, nil] why there is no clock; nil when there is
        attr_reader :why_not

        def available? = why_not.nil?

        private

        def load_extension
          return @why_not = "RUBY_MN_THREADS is set, and with it a thread is no longer one thread of the system" if ENV["RUBY_MN_THREADS"] == "1"
          begin
            require_relative "../native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner"
          rescue LoadError
            require "puma_tuner/puma_tuner"
          end
          @why_not = nil
        rescue LoadError => error
          @why_not = "the extension is not there for #{RUBY_ENGINE} #{RUBY_VERSION} (#{error.message.lines.first.strip}); " \
                     "it needs CRuby 3.3 or newer on Linux, and a compiler when the gem is installed"
        end
      end

      # A redefinition by the extension is what is wanted here, not a mistake.
      verbose, $VERBOSE = $VERBOSE, nil
      load_extension
      $VERBOSE = verbose
    end
  end
end
