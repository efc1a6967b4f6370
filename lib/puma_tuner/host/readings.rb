# frozen_string_literal: true

module PumaTuner
  module Host
    # The counts of what server and machine have spent up to a moment; two of them make a window.
    #
    # at_ns; cpu_ns: of all processes of the server, nil when one went away;
    # run_queue_wait_ns: for which their threads could
    #   have run and had no core
    # gauges: {pid => Gauges}; busy_ns, stolen_ns: of the whole machine, all cores together
    # pressure_ns: for which somebody waited for a core (PSI); throttled_count: by the control group's quota
    # services_ns: CPU of what serves the app on this machine, as far as it was looked for; app_ns: of that, of the
    #   server, and of all that it has started, such as programs that convert images
    Readings = Data.define(:at_ns, :pids, :cpu_ns, :run_queue_wait_ns, :gauges, :busy_ns, :stolen_ns, :pressure_ns,
      :throttled_count, :services_ns, :app_ns) do
      # @param server [ServerProcess]
      # @param meter [SignalQuery, nil]
      def self.take(server, meter)
        pids = server.pids
        clocks = pids.map { |pid| Probe::Processes.cpu_ns(pid) }
        new(at_ns: Clock.now_ns, pids:, cpu_ns: (clocks.sum unless clocks.include?(nil)),
          run_queue_wait_ns: Probe::Processes.run_queue_wait_sum_ns(pids),
          gauges: meter ? meter.call("gauges", server.serving_pids) : {}, services_ns: Services.cpu_ns(server.services),
          app_ns: Services.cpu_ns([*server.leaders, *server.services]), **MachineLoad.read)
      end

      # @param other [Readings] before
      # @return [Spent]
      def -(other)
        Spent.new(duration_ns: at_ns - other.at_ns, gc_ns: grown(other, :gc_ns),
          allocated_count: grown(other, :allocated_count),
          # The kernel no longer tells what a process that has ended had used.
          **((pids == other.pids) ? differences(other, :cpu_ns, :app_ns) : {cpu_ns: nil}),
          **differences(other, :services_ns, :run_queue_wait_ns, :busy_ns, :stolen_ns, :pressure_ns, :throttled_count))
      end

      # @return [Integer, nil] a gauge now, all processes together
      def total(name)
        values = gauges.values.map { |now| now[name] }
        values.sum unless values.empty? || values.include?(nil)
      end

      private

      def differences(other, *names)
        names.to_h do |name|
          now, before = public_send(name), other.public_send(name)
          [name, now && before && now - before]
        end
      end

      # Returns how much a gauge has grown, over all processes together.
      def grown(earlier, name)
        pairs = gauges.map { |pid, now| [now[name], earlier.gauges.dig(pid, name)] }
        pairs.sum { |now, before| now - before } unless pairs.empty? || pairs.flatten.include?(nil)
      end
    end

    # The difference between two readings, or the sum over several such windows. nil: unknown.
    Spent = Data.define(:duration_ns, :cpu_ns, :run_queue_wait_ns, :gc_ns, :allocated_count, :busy_ns, :stolen_ns,
      :pressure_ns, :throttled_count, :services_ns, :app_ns) do
      def initialize(cpu_ns:, services_ns: 0, app_ns: cpu_ns&.+(services_ns), **fields) = super

      # @param other [Spent]
      def +(other)
        with(**to_h { |name, value| [name, value && other.public_send(name)&.+(value)] })
      end

      # @param own_ns [Integer, nil] CPU of the generator and of this process meanwhile
      # @return [Integer, nil] CPU that neither they, nor the server, nor what it started or what serves it used, in
      #   nanoseconds: clocks that are read one after the other may make it a little less than none
      def foreign_ns(own_ns) = busy_ns && app_ns && own_ns && busy_ns - app_ns - own_ns
    end
  end
end
