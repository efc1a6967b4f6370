# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Traffic = Options.group(:path, :requests, :data, :connections, :rate, :arrivals, :think, :reuse, :seed)

      # The options that say what is sent, by what and when.
      class Traffic
        # An open loop needs as many connections as there are requests under way when the server is slow.
        CONNECTIONS_CLOSED = 20
        CONNECTIONS_OPEN = Load::Arrivals::OPEN_CONNECTIONS_COUNT
        # Fewer where each of them has to sign in first.
        CONNECTIONS_OPEN_SET_UP = 100

        KINDS = %w[poisson even].freeze

        # These words describe how commands that send requests settle `connections`.
        USUAL_CONNECTIONS = {usual: "#{CONNECTIONS_CLOSED}; with --rate #{CONNECTIONS_OPEN}, or " \
          "#{CONNECTIONS_OPEN_SET_UP} where --requests has setup lines"}.freeze

        # @param generator [Load::Generator]
        # @return [Load::Traffic]
        def traffic(generator: Load::Native.new)
          raise UsageError, "--data needs a file of requests to fill in; name one with --requests" if data && !requests
          mix = requests ? Load::Mix.read(requests, data_path: data) : Load::Mix.of_paths(path)
          Load::Traffic.new(mix:, generator:, arrivals: loop_of_requests,
            connections_count: connections || usual_connections(mix), seed:).ensure_generator
        end

        private

        def usual_connections(mix)
          return CONNECTIONS_CLOSED unless rate
          mix.set_up.any? ? CONNECTIONS_OPEN_SET_UP : CONNECTIONS_OPEN
        end

        def loop_of_requests
          unless [nil, *KINDS].include?(arrivals)
            raise UsageError, "--arrivals #{arrivals}: choose #{KINDS.join(" or ")}"
          end
          raise UsageError, "--think belongs to a closed loop, --rate to an open one; leave one out" if rate && think
          return Load::Arrivals.open(rate, kind: arrivals || KINDS.first, reuse: reuse_counts) if rate
          Load::Arrivals.closed(think_ns: ((think || 0) * Units::NS_PER_S).round, reuse: reuse_counts)
        end

        def reuse_counts
          return unless reuse
          least, most = reuse.split(":", 2).map { |number| Parse.count("--reuse", number, 1..1_000_000) }
          return least..most if most && least <= most
          raise UsageError, "--reuse #{reuse}: write the fewest and the most requests over " \
            "one connection, such as 1:100"
        end
      end
    end
  end
end
