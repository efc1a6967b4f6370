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
          Host::PumaWatch.on(:Client) { |client| client.attr_accessor(:puma_tuner_queued_ns, :puma_tuner_before_puma_ns) }
          Host::PumaWatch.on(:ThreadPool) { |pool| pool.prepend(Queueing) }
          Host::PumaWatch.on(:Server) do |server|
            server.prepend(ServerStart, around_request)
            # An app that builds its middleware at its first request comes after the start of the server whose thread this is.
            server.current&.then { |running| server_starts(running) } if server.respond_to?(:current)
          end
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

      # Puma writes the response and calls `rack.response_finished` inside: what follows the response still keeps the
      # thread, and counts.
      module AroundRequest6
        def handle_request(client, requests)
          recorder = Measure.recorder
          begun = recorder.begin(client)
          super
        ensure
          recorder.finish(client) if begun
        end
      end

      module AroundRequest8
        def handle_request(processor, client, requests)
          recorder = Measure.recorder
          begun = recorder.begin(client)
          super
        ensure
          recorder.finish(client) if begun
        end
      end

      # The acceptor and the reactor queue clients. Both may have waited for the GVL since the client was there, so the
      # stamp is the moment at which they were woken for it.
      module Queueing
        def <<(work)
          work.puma_tuner_queued_ns = GvlClock.woken_ns if work.respond_to?(:puma_tuner_queued_ns=)
          super
        end
      end
    end
  end
end
