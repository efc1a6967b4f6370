# frozen_string_literal: true

module PumaTuner
  module Probe
    # Where wall time went. Each moment is in one part, so that they sum to the wall time by construction;
    # the residual is what is in none that is known.
    # A part that could not be told apart is nil, and the observation says why.
    #
    # wall_ns: of requests: from the moment Puma had the request to the end of the response;
    #   of threads: everything but idle
    # queue_ns: in Puma, waiting for a pool thread (requests only, nil for threads)
    # cpu_ns: on a core, with the GVL or without it, less the CPU time of gc_ns
    # preempted_ns: had the GVL, but was not on a core
    # gvl_wait_ns: could have run, and waited for the GVL; of it gc_waited_ns while another thread collected garbage
    # gc_ns: ran the garbage collector, for everybody
    # io_ns, lock_ns, sleep_ns: released the GVL for a socket, file or database, of it db_ns, redis_ns (or memcached),
    #   http_ns and file_ns, the rest being of nothing known; for a Mutex, Queue or ConditionVariable, of it
    #   pool_wait_ns for a connection of a pool; for Kernel#sleep
    # idle_ns: a pool thread waiting for a request; outside the wall time
    # before_puma_ns: between the proxy's X-Request-Start and Puma, by two clocks; outside the wall time, nil without it
    Budget = Document.define(:wall_ns, :queue_ns, :cpu_ns, :preempted_ns, :gvl_wait_ns, :gc_ns,
      :io_ns, :lock_ns, :sleep_ns, :idle_ns, :pool_wait_ns, :gc_waited_ns, :before_puma_ns, :db_ns, :redis_ns,
      :http_ns, :file_ns,
      added: %i[db_ns redis_ns http_ns file_ns]) do
      const_set(:PARTS, %i[queue cpu preempted gvl_wait gc io lock sleep].freeze)

      # Those of older files are not known.
      def initialize(db_ns: nil, redis_ns: nil, http_ns: nil, file_ns: nil, **parts) = super

      # @return [Budget] nothing spent yet
      def self.zero = new(**members.to_h { |member| [member, 0] })

      # @param sums [Hash{Symbol => Integer}] the members' names without their unit
      def self.of(sums) = new(**members.to_h { |member| [member, sums.fetch(member.to_s.delete_suffix("_ns").to_sym)] })

      # @return [Integer, nil] nanoseconds
      def part_ns(part) = public_send(:"#{part}_ns")

      # @return [Float, nil] share of the wall time, 0..1
      def share_ratio(part)
        part_ns(part)&.fdiv(wall_ns) if wall_ns.positive?
      end

      # @return [Integer] wall time that no known part accounts for; negative when the parts claim too much
      def residual_ns = wall_ns - self.class::PARTS.sum { |part| part_ns(part) || 0 }

      # @return [Budget] both together; a part unknown in one is unknown in the sum
      def +(other)
        with(**to_h { |name, ns| [name, (ns && other.public_send(name)) ? ns + other.public_send(name) : nil] })
      end
    end
  end
end
