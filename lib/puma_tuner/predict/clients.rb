# frozen_string_literal: true

module PumaTuner
  module Predict
    # A closed loop: every connection sends a request, waits for its answer, thinks, and sends the next.
    #
    # The clients are one load generator with one thread: while it runs it takes a share of the cores, and it writes and
    # reads for one connection at a time. Latency starts when a request is sent.
    #
    # A connection stays with one worker. Which one is chance: keep-alive clients of a Puma cluster were measured to end up
    # as unevenly as if each had picked its worker blindly, and the most crowded worker decides the tail.
    class Clients
      # @param workers [Array<Worker>]
      # @param mix [RequestMix]
      # @param client_cpu_ns [Integer] for each request
      def initialize(timeline:, workers:, mix:, think_ns:, client_cpu_ns:)
        @timeline = timeline
        @workers = workers
        @mix = mix
        @think_ns = think_ns
        @client_cpu_ns = client_cpu_ns
        @ready = []
      end

      # @param count [Integer]
      # @param assignment [Random] picks their workers; one draw each, so that it is the same chance under any topology
      # @param arrivals [Random] spreads their first requests
      # @param spread_ns [Numeric] over this long, so that they do not march in step from the start
      def connect(count, assignment:, arrivals:, spread_ns:)
        count.times do
          connection = Connection.new((assignment.rand * @workers.size).to_i, self)
          @timeline.after((arrivals.rand * spread_ns).to_i, connection)
        end
      end

      # @param request [Request]
      def answered(request)
        if @think_ns.zero?
          think_over(request.connection)
        else
          @timeline.after(@think_ns, request.connection)
        end
      end

      # The connection is ready to send; it does when the load generator gets round to it.
      def think_over(connection)
        return send_request(connection) if @client_cpu_ns.zero?
        @ready.push(connection)
        compute if @ready.size == 1
      end

      # Called by the timeline: the load generator has served the first of the ready connections.
      def burst_ended
        connection = @ready.shift
        compute unless @ready.empty?
        send_request(connection)
      end

      # One client. As an event of its own it is the end of its thinking.
      Connection = Struct.new(:worker_index, :clients) do
        def call = clients.think_over(self)
      end

      private

      def compute = @timeline.compute(self, @client_cpu_ns)

      def send_request(connection)
        @workers[connection.worker_index].accept(Request.new(connection, @mix.draw, @timeline.now_ns))
      end
    end
  end
end
