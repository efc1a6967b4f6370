# frozen_string_literal: true

require_relative "../../host/puma_watch"

module PumaTuner
  module Profile
    module Inside
      # When each request was served, by which thread, and what its budget was: so that samples can be told apart by the
      # request that they fell into. Runs instead of the probe, by the same clock.
      module RequestLog
        # Beyond these, requests are counted only.
        REQUESTS_MAX = 100_000

        # Where a request's numbers stand in Measure::GvlClock::NUMBERS.
        WALL, QUEUE, CPU, GVL_WAIT, GC = %i[wall queue cpu gvl_wait gc].map { |name| Measure::GvlClock::NUMBERS.index(name) }

        class << self
          def install
            Measure::GvlClock.start
            Host::PumaWatch.on(:Server) { |server| server.prepend(AroundRequest) }
          end

          # Begins anew.
          def begin
            Measure::GvlClock.start # once more after a fork
            @endpoint = Measure::Endpoint.new(grouping: Measure.grouping)
            @lost_count = 0
            @requests = []
          end

          # @api private
          def add(env)
            numbers = Measure::GvlClock.request_take(false)&.first or return
            return unless @requests
            return @lost_count += 1 if @requests.size >= REQUESTS_MAX
            ended_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
            began_ns = ended_ns - (numbers[WALL] - numbers[QUEUE].to_i)
            @requests << [Thread.current.native_thread_id, began_ns, ended_ns, numbers[WALL], numbers[GVL_WAIT], numbers[GC], @endpoint.name(env)]
          end

          # @param file [String]
          def write(file)
            requests, @requests = @requests, nil
            File.binwrite(file, Marshal.dump({requests:, lost_count: @lost_count}))
          end
        end

        # `handle_request` has one argument more from Puma 8 on.
        module AroundRequest
          def handle_request(*arguments)
            begun = Measure::GvlClock.request_begin
            super
          ensure
            RequestLog.add(arguments[-2].env) if begun
          end
        end
      end
    end
  end
end
