# frozen_string_literal: true

module PumaTuner
  module Host
    # In a server: what of the loaded Puma's code decides how it hands over requests, as far as classes, methods and constants show it.
    # Predict::Rules says what each means.
    module PumaFeatures
      # @return [Array<String>, nil] nil where Puma's server is not loaded
      def self.read
        return unless defined?(::Puma::ThreadPool) && defined?(::Puma::Const)
        pool = ::Puma::ThreadPool
        less_busy = pool.method_defined?(:wait_for_less_busy_worker)
        not_full = pool.method_defined?(:wait_until_not_full)
        {
          # It came back after 8.0.2, for queue_requests false alone.
          "accept_gate" => not_full && less_busy, "queueless_gate" => not_full && !less_busy,
          "busy_delay" => less_busy, "overload_delay" => ::Puma.const_defined?(:ClusterAcceptLoopDelay),
          "park" => ::Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT), "io_threads" => pool.const_defined?(:ProcessorThread, false)
        }.select { |_, there| there }.keys
      end
    end
  end
end
