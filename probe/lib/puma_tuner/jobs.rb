# frozen_string_literal: true

require_relative "probe"

module PumaTuner
  # Jobs of Active Job and Sidekiq as work of their own kind, under the name of their class. Attached by itself to what
  # is loaded when Puma starts; a process of Sidekiq's says `require "puma_tuner/jobs"` in its initializer.
  module Jobs
    # Sidekiq's server middleware.
    class SidekiqMiddleware
      def call(_worker, job, _queue, &)
        PumaTuner.measure(job["wrapped"] || job["class"], &)
      end
    end

    class << self
      # Safe to call again.
      def install
        install_active_job if defined?(::ActiveJob::Base) && !@active_job
        install_sidekiq if defined?(::Sidekiq) && ::Sidekiq.respond_to?(:configure_server) && !@sidekiq
      end

      private

      def install_active_job
        @active_job = true
        ::ActiveJob::Base.around_perform { |job, work| PumaTuner.measure(job.class.name) { work.call } }
      end

      def install_sidekiq
        @sidekiq = true
        ::Sidekiq.configure_server { |config| config.server_middleware { |chain| chain.prepend(SidekiqMiddleware) } }
      end
    end
  end
end
