# frozen_string_literal: true

require_relative "../host/puma_watch"

module PumaTuner
  module Measure
    # Where Puma (6, 7 and 8) is looked at: when a server starts, when a client is queued, and around each request.
    # The hooks are prepended once, by whichever way in comes first.
    module PumaHooks
      class << self
        # @param on_server [Proc] called in the process that serves, before its first request
        def install(&on_server)
          @on_server = on_server
          return if @installed
          @installed = true
          Host::PumaWatch.on(:Server) { |server| server.prepend(ServerStart, around_request) }
          Host::PumaWatch.on(:Client) { |client| client.attr_accessor(:puma_tuner_queued_ns) }
          Host::PumaWatch.on(:ThreadPool) { |pool| pool.prepend(Queueing) }
        end

        # @api private
        def server_starts(server) = @on_server.call(server)

        private

        # The method took one argument more from 8.0 on. A splat would do for both, and allocate for each request.
        def around_request = (Puma::Const::PUMA_VERSION.to_i >= 8) ? AroundRequest8 : AroundRequest6
      end

      module ServerStart
        def run(...)
          PumaHooks.server_starts(self)
          super
        end
      end

      module AroundRequest6
        def handle_request(client, requests)
          begun = Measure.recorder.begin
          super
        ensure
          Measure.finish_request(client) if begun
        end
      end

      module AroundRequest8
        def handle_request(processor, client, requests)
          begun = Measure.recorder.begin
          super
        ensure
          Measure.finish_request(client) if begun
        end
      end

      module Queueing
        def <<(work)
          work.puma_tuner_queued_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) if work.respond_to?(:puma_tuner_queued_ns=)
          super
        end
      end
    end
  end
end
