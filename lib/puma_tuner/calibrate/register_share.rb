# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures which part of the reactor's CPU for a request goes into taking a connection in, the rest being to wake up
    # for it, read and hand it on. A connection over which nothing is sent is taken in only; a request over it then
    # costs one of each.
    class RegisterShare
      BATCHES_COUNT = 25

      # Open at the same time. (Few: the reactor sorts them each time. With 8
      # and with 20 the share came out the same, 0.28.)
      CONNECTIONS_COUNT = 8

      # The pause between two of them, so that the reactor sees each alone.
      PAUSE_S = 0.000_4
      # The pause until Puma is through with them.
      REST_S = 0.003

      EXPECTED_S = 0.8

      # @param app [EmptyApp]
      def initialize(app, batches_count: BATCHES_COUNT)
        @app = app
        @batches_count = batches_count
      end

      # @return [Float] 0..1
      def call
        batches = Array.new(@batches_count) { batch }
        self.class.of(*batches.transpose.map { |all_ns| Sample.new(values_ns: all_ns).median_ns })
      end

      # @param registered_ns [Integer] CPU for connections taken in
      # @param requests_ns [Integer] CPU for as many requests
      def self.of(registered_ns, requests_ns)
        unless requests_ns.positive?
          raise InvalidMeasurement, "Puma's reactor was not seen to work. Run it again when the machine is quiet."
        end
        registered_ns.fdiv(requests_ns).clamp(0.0, 1.0)
      end

      private

      def batch
        sockets = []
        registered_ns = reactor_ns { CONNECTIONS_COUNT.times { rest_after { sockets << @app.connect } } }
        [registered_ns, reactor_ns { sockets.each { |socket| rest_after { @app.ask(socket) } } }]
      ensure
        sockets.each(&:close)
        sleep(REST_S)
      end

      def rest_after
        yield
        sleep(PAUSE_S)
      end

      def reactor_ns
        before_ns = ThreadCpu.of(@app.pid).reactor_ns
        yield
        sleep(REST_S)
        ThreadCpu.of(@app.pid).reactor_ns - before_ns
      end
    end
  end
end
