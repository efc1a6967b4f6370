# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profiling
      # Logs when each request was served, by which thread, and what its budget was, so that samples can be told apart
      # by the request that they fell into. It runs instead of the probe, by the same clock.
      module RequestLog
        # Requests beyond these are only counted.
        REQUESTS_MAX = 100_000

        # The places of a request's numbers.
        WALL, QUEUE, CPU, GVL_WAIT, GC = %i[wall queue cpu gvl_wait gc].map { |name| Parts::TAKEN.index(name) }

        class << self
          def install
            GvlClock.start
            Probe.recorder = self
            Puma.watch_requests
          end

          # Begins anew.
          def begin_log
            GvlClock.start # once more after a fork
            @endpoint = Endpoint.new(grouping: Probe.grouping)
            @lost_count = 0
            @requests = []
          end

          # See Recorder.
          def begin(client) = GvlClock.request_begin(client.puma_tuner_queued_ns)

          # See Recorder.
          def finish(client)
            client.puma_tuner_queued_ns = nil # the connection's next request comes from no list
            add(client.env)
          end

          # See Recorder.
          def job(_name) = yield

          # @api private
          def add(env)
            numbers = GvlClock.request_take(false)&.first or return
            return unless @requests
            return @lost_count += 1 if @requests.size >= REQUESTS_MAX
            ended_ns = Clock.now_ns
            began_ns = ended_ns - (numbers[WALL] - numbers[QUEUE].to_i)
            @requests << [Thread.current.native_thread_id, began_ns, ended_ns, numbers[WALL], numbers[GVL_WAIT],
              numbers[GC], @endpoint.name(env)]
          end

          # @param file [String]
          def write(file)
            requests, @requests = @requests, nil
            File.binwrite(file, Marshal.dump({requests:, lost_count: @lost_count}))
          end
        end
      end
    end
  end
end
