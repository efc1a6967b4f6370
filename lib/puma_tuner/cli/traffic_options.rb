# frozen_string_literal: true

module PumaTuner
  module CLI
    # What is sent, by what and when: shared by the commands that send requests. A command says which of these options it has.
    module TrafficOptions
      # An open loop needs as many connections as there are requests under way when the server is slow.
      CONNECTIONS_CLOSED = "20"
      CONNECTIONS_OPEN = "1000"

      DESCRIPTIONS = {
        path: "path(s) to request", requests: "file with requests and weights (docs/formats/requests.md), instead of --path",
        data: "CSV file whose columns stand for the {{names}} in --requests",
        connections: "clients that each send their next request when the answer is there (closed loop), default: 20; " \
                     "of an open loop: the most that may be open, default: 1000",
        rate: "requests per second, sent whether or not there are answers (open loop)", arrivals: "of an open loop: poisson or even",
        think: "seconds that each client waits before its next request, default: none",
        reuse: "requests over one connection, such as 1:100: each connection draws its own number; default: no end",
        seed: "of all that is left to chance"
      }.freeze

      DEFAULTS = {path: ["/"], arrivals: "poisson", seed: "1"}.freeze

      # @param command [Class]
      # @param names [Array<Symbol>]
      def self.declare(command, *names)
        names.each do |name|
          settings = {type: (:array if name == :path), default: DEFAULTS[name], desc: DESCRIPTIONS.fetch(name)}.compact
          command.option(name, **settings)
        end
      end

      private

      # @param generator [PumaTuner::Load::Generator]
      # @return [PumaTuner::Load::Traffic]
      def traffic_of(path:, seed:, generator: PumaTuner::Load::Native.new, requests: nil, data: nil, connections: nil, rate: nil, **options)
        raise UserMistake, "--data fills in a file of requests; name one with --requests" if data && !requests
        PumaTuner::Load::Traffic.new(
          mix: requests ? PumaTuner::Load::Mix.read(requests, data_path: data) : PumaTuner::Load::Mix.of_paths(path),
          generator:, arrivals: arrivals_of(rate:, **options),
          connections_count: Parse.count("--connections", connections || (rate ? CONNECTIONS_OPEN : CONNECTIONS_CLOSED), 1..10_000),
          seed: Parse.count("--seed", seed, 0..2**31)
        ).insist_on_generator
      end

      def arrivals_of(rate:, arrivals: "poisson", think: nil, reuse: nil, **)
        raise UserMistake, "--arrivals #{arrivals}: there is poisson and even" unless %w[poisson even].include?(arrivals)
        raise UserMistake, "--think is of a closed loop, --rate of an open one; leave one out" if rate && think
        reuse &&= reuse_of(reuse)
        return PumaTuner::Load::Arrivals.open(Parse.count("--rate", rate, 1..200_000), kind: arrivals, reuse:) if rate
        PumaTuner::Load::Arrivals.closed(think_ns: think ? (Parse.seconds("--think", think) * Units::NS_PER_S).round : 0, reuse:)
      end

      def reuse_of(text)
        least, most = text.split(":", 2).map { |number| Parse.count("--reuse", number, 1..1_000_000) }
        return least..most if most && least <= most
        raise UserMistake, "--reuse #{text}: write the fewest and the most requests over one connection, such as 1:100"
      end
    end
  end
end
