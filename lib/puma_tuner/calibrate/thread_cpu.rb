# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # CPU time of a Puma process by the kind of thread, by the kernel's own account of each
    # (/proc/PID/task/TID/schedstat, in nanoseconds), so that nothing need be loaded into it.
    ThreadCpu = Data.define(:acceptor_ns, :reactor_ns, :pool_ns) do
      # Puma gives its threads these names; the kernel keeps 15 bytes.
      const_set(:NAMES,
        {acceptor_ns: /\Apuma srv\z/, reactor_ns: /\Apuma reactor\z/, pool_ns: /\Apuma srv tp \d+\z/}.freeze)

      # @return [ThreadCpu] so far
      # @raise [InvalidMeasurement] when there are no such threads
      def self.of(pid)
        by_name = Dir["/proc/#{pid}/task/*"].map do |task|
          [Probe::Processes.read("#{task}/comm").chomp, Probe::Processes.read("#{task}/schedstat").to_i]
        end
        new(**self::NAMES.transform_values { |name|
          found = by_name.select { |comm, _| comm.match?(name) }
          if found.empty?
            raise InvalidMeasurement, "this Puma has no thread named #{name.inspect}, or this kernel does not report " \
              "its CPU time (CONFIG_SCHED_INFO)"
          end
          found.sum(&:last)
        })
      end

      # Returns what the block makes them use.
      # @return [Array(ThreadCpu, Object)] with what the block returns
      def self.during(pid)
        before = of(pid)
        value = yield
        # A response leaves before the thread has finished with its request.
        sleep(0.02)
        [of(pid) - before, value]
      end

      def -(other) = with(**to_h { |name, ns| [name, ns - other.public_send(name)] })
    end
  end
end
