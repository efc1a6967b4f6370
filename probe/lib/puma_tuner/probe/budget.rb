# frozen_string_literal: true

module PumaTuner
  module Probe
    # Nothing is known of a part that an older file does not have.
    parts_ns = ((Parts::SUMS | Parts::WALL) - [:wall]).map { |part| :"#{part}_ns" }

    # The wall time, recorded or simulated, in the parts that Parts lists. Each moment is in one of them, so that they
    # sum to the wall time by construction; the residual is the time that is in no known one. A part that could not be
    # told apart is nil: in recordings the observation says why.
    #
    # wall_ns: of requests: from the moment Puma had the request to the end of the response; of simulated requests: as
    #   the client sees them; of threads: everything but idle
    # client_ns: of simulated requests: not sent yet, on the way, or not read yet
    # queue_ns: in Puma, waiting for a pool thread (requests only, nil for threads)
    # cpu_ns: on a core, with the GVL or without it, less the CPU time of gc_ns
    # preempted_ns: had the GVL, but was not on a core
    # gvl_wait_ns: could have run, and waited for the GVL; of it gc_waited_ns while another thread collected garbage
    # gc_ns: ran the garbage collector, for everybody
    # io_ns, lock_ns, sleep_ns: released the GVL for a socket, file or database, of it db_ns, redis_ns (or memcached),
    #   http_ns and file_ns, the rest being of nothing known; for a Mutex, Queue or ConditionVariable, of it pool_ns for
    #   a connection of a pool; for Kernel#sleep
    # idle_ns: a pool thread waiting for a request; outside the wall time
    # before_puma_ns: between the proxy's X-Request-Start and Puma, by two clocks; outside the wall time, nil without it
    Budget = Document.define(:wall_ns, *parts_ns, added: parts_ns) do
      # An app that collects garbage for more of its CPU than this is at the mercy of its heap: how often Ruby collects
      # follows how full each heap is, and heaps grow in steps, the sooner the more requests are under way. A judgement.
      const_set(:COLLECTING_RATIO, 0.2)

      # Nanoseconds, whole ones or means; nil where they are not given.
      def initialize(wall_ns:, **parts_ns)
        super(**self.class.members.to_h { |member| [member, nil] }, wall_ns:, **parts_ns)
      end

      # Older files have another name for a pool's wait. Their simulated budgets have no sum there, and garbage
      # collection in their CPU time.
      def self.of_now(fields)
        fields = {"pool_ns" => fields["pool_wait_ns"], **fields}
        return fields unless fields.key?("client_ns") && !fields.key?("wall_ns")
        wall_ns, cpu_ns = fields.except("gc_ns").values.compact.sum, fields["cpu_ns"] - fields["gc_ns"].to_i
        {**fields, "wall_ns" => wall_ns, "cpu_ns" => cpu_ns}
      end
      private_class_method :of_now

      # @return [Budget] nothing spent yet
      def self.zero = new(**members.to_h { |member| [member, 0] }, client_ns: nil)

      # @param parts_ns [Hash{Symbol => Numeric}] by part; of those that are missing nothing is known
      # @return [Budget]
      def self.of(parts_ns)
        new(**members.to_h { |member| [member, parts_ns[member.name.delete_suffix("_ns").to_sym]] })
      end

      # @param part [Symbol, String] as in Parts: `:cpu`, `:io`, `:gvl_wait` …
      # @return [Numeric, nil] nanoseconds
      def part_ns(part) = public_send(:"#{part}_ns")

      # @param part [Symbol, String] as in Parts
      # @return [Float, nil] share of the wall time, 0..1
      def share_ratio(part)
        part_ns(part)&.fdiv(wall_ns) if wall_ns.positive?
      end

      # @return [Numeric, nil] nanoseconds on a core, garbage collection included; nil where one of the two is unknown
      def on_core_ns = cpu_ns && gc_ns && cpu_ns + gc_ns

      # @return [Boolean] whether collecting garbage takes much of the CPU; false where that is not known
      def collecting? = !on_core_ns.nil? && gc_ns > self.class::COLLECTING_RATIO * on_core_ns

      # @return [Numeric] wall time that no known part accounts for; negative when the parts claim too much
      def residual_ns = wall_ns - Parts::WALL.sum { |part| part_ns(part) || 0 }

      # @return [Budget] both together; a part unknown in one is unknown in the sum
      def +(other)
        with(**to_h { |name, ns| [name, (ns && other.public_send(name)) ? ns + other.public_send(name) : nil] })
      end
    end
  end
end
