# frozen_string_literal: true

module PumaTuner
  module Load
    # What clients of a mix with set-up lines have at the moment: each load begins with it, and leaves what they have
    # then.
    class Clients
      # @return [Array<Array(String, Array<String>)>] of each: cookies, as the loop keeps them, and values
      attr_reader :states

      # @return [Integer] requests of the set-up lines that were sent once more
      attr_reader :retried_count

      # @param states [Array<Array(String, Array<String>)>]
      def initialize(states)
        @states = states
        @retried_count = 0
      end

      # @param states [Array<Array(String, Array<String>)>]
      # @param retried_count [Integer] of the set-up lines
      # @return [self]
      def keep(states, retried_count: @retried_count)
        @retried_count = retried_count
        @states = states
        self
      end
    end

    # Lets each client send the set-up lines of a mix, in their order, as a load of its own that is in no figure.
    class SetUp
      # For one client, and how much later those may end that wait for it (ext/puma_tuner_load/set_up.c).
      LIMIT_S = 60
      LIMIT_PER_CLIENT_S = 1

      def initialize(mix:, url_base:, connections_count:, seed:)
        @mix = mix
        @connections_count = connections_count
        @limit_s = LIMIT_S + connections_count * LIMIT_PER_CLIENT_S
        @clients = Clients.new(Session.new(mix).clients(connections_count, seed))
        @plan = NativePlan.new(mix:, url_base:, connections_count:, seed:, duration_s: @limit_s,
          arrivals: Arrivals.closed, clients: @clients)
      end

      # @yieldparam plan [Hash{Symbol => Object}] for the loop, without settling, drain, raw file and core
      # @yieldparam limit_s [Integer] how long it may take
      # @yieldreturn [Hash{Symbol => Object}] the loop's figures
      # @return [Clients]
      # @raise [InvalidMeasurement] when a response is not as it must be
      def call
        figures = yield(@plan.set_up, @limit_s)
        if figures[:set_up_count] == @connections_count
          return @clients.keep(figures[:clients], retried_count: figures[:retried_count])
        end
        raise InvalidMeasurement, "the set-up lines failed, so nothing was measured: #{problem(figures)}"
      end

      private

      def problem(figures)
        place = figures[:requests].index { |request| wrong?(request) }
        return wrong_response(place, figures[:requests][place]) if place
        if figures[:failed_count].positive?
          return "#{figures[:first_failure]}. Does the server run, and is its log free of errors?"
        end
        "#{figures[:set_up_count]} of #{@connections_count} connections got through them within #{@limit_s} s. " \
          "Are fewer --connections enough?"
      end

      def wrong?(request) = request.values_at(:unexpected_count, :wrong_body_count, :unpicked_count).any?(&:positive?)

      def wrong_response(place, figures)
        request = @mix.set_up[place]
        line = "line #{place + 1} of them (#{request.http_method} #{Probe::Endpoint::Path.name(request.path[/[^?]*/])})"
        if figures[:unexpected_count].positive?
          status = figures[:statuses].keys.map { |one| one.to_s.to_i }.find { |one| !request.expects?(one) }
          "#{line} got status #{status}#{meaning(status)}. Ask the server by hand for the same, and " \
            "look at its log. A status that is right is listed with expect: (docs/reference/requests.md)."
        elsif figures[:wrong_body_count].positive?
          "the response to #{line} has not the text that has: names. Ask the server by hand for the same. Does it " \
            "limit how often one may sign in, as Rails' generated sign-in does? Each connection does, at each server."
        else
          "the response to #{line}, with status #{figures[:statuses].keys.first}, has nothing for " \
            "#{request.picks[figures[:unpicked]]}. Look at the response for the name, and whether it is on this page " \
            "(docs/reference/requests.md lists what can be picked)."
        end
      end

      # What a sign-in is usually refused with.
      def meaning(status)
        case status
        when 401 then ", as a wrong password is"
        when 403 then ", as a missing or wrong CSRF token or host name is"
        when 422 then ", as a wrong CSRF token or password is"
        when 429 then ": it limits how often one may sign in"
        end
      end
    end
  end
end
