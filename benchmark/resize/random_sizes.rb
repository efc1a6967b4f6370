# frozen_string_literal: true

require_relative "server"

module Resizing
  # What came of it. answered_count, lost: of the clients; orders_count; miscounted: readings in which Puma counted other threads than there were, two in a row
  # last: [spawned, live, maximum] of each worker after all was over; complaints: what the server said beside its usual lines
  Survived = Data.define(:minutes, :seed, :answered_count, :lost, :orders_count, :readings_count, :miscounted, :last, :complaints) do
    # @return [Array<String>] promises that were broken
    def broken
      [
        ("#{lost.size} requests were lost: #{lost.tally}" if lost.any?),
        ("Puma counted other threads than there were: #{miscounted.first(3)}" if miscounted.any?),
        ("after it: #{last}" unless last.all? { |spawned, live, most| spawned == live && most == RandomSizes::THREADS && live <= most }),
        *complaints
      ].compact
    end
  end

  # A cluster under load whose pools get sizes at random, and now and then no order any more.
  class RandomSizes
    THREADS = 4
    CLIENTS = 10
    PATHS = %w[/ / / /io /cpu /long].freeze

    # So long an order is left standing.
    PAUSES_S = (0.3..2.0)

    # Puma counts out what ended within so many looks.
    LOOKS = 3

    def initialize(minutes:, seed:)
      @minutes, @seed = minutes, seed
      @random = Random.new(seed)
    end

    # @return [Survived]
    def run
      Server.run(THREADS) do |server|
        @server = server
        clients = Array.new(CLIENTS) { |place| Thread.new { ask(PATHS.rotate(place)) } }
        orders_count = resize
        @stopped = true
        answered, lost = clients.map(&:value).transpose
        Survived.new(minutes: @minutes, seed: @seed, answered_count: answered.sum, lost: lost.flatten, orders_count:, readings_count: @readings.size,
          miscounted:, last: settled, complaints: server.said.lines.grep(/puma_tuner|rror|BUG/).map(&:chomp))
      end
    end

    private

    # @return [Array(Integer, Array<String>)] how many had their response, and what became of the others
    def ask(paths)
      count, lost = 0, []
      until @stopped
        Net::HTTP.start("127.0.0.1", @server.port, read_timeout: 30) do |http|
          20.times do
            response = http.get(paths[count % paths.size])
            (response.code == "200") ? count += 1 : lost << response.code
            break if @stopped
          end
        rescue SystemCallError, EOFError, Timeout::Error => error
          lost << error.class.name
        end
      end
      [count, lost]
    end

    # @return [Integer] orders
    def resize
      @readings = []
      count = 0
      end_s = PumaTuner::Clock.now_s + @minutes * 60
      @server.trial.hold do
        while PumaTuner::Clock.now_s < end_s
          pids = @server.trial.states.map { |state| state[:pid] }
          # One in ten is silence, after which all comes back.
          @random.rand(10).zero? ? @server.trial.release : @server.trial.order(pids.to_h { |pid| [pid, @random.rand(1..Server::MOST)] })
          count += 1
          sleep(@random.rand(PAUSES_S))
          @readings << @server.trial.states.to_h { |state| [state[:pid], state[:pool].values_at(:spawned_count, :live_count) << state[:told_at_ns]] }
        end
      end
      count
    end

    # A thread that has just ended is counted out at the next look, a second later at most.
    def miscounted
      @readings.flat_map(&:to_a).group_by(&:first).flat_map do |pid, readings|
        readings.map(&:last).uniq(&:last).each_cons(LOOKS).select { |looks| looks.all? { |spawned, live, _| spawned != live } }.map { |looks| [pid, looks.last.first(2)] }
      end
    end

    def settled
      deadline_s = PumaTuner::Clock.now_s + 15
      loop do
        pools = @server.trial.states.map { |state| state[:pool].values_at(:spawned_count, :live_count, :max_count) }
        return pools if PumaTuner::Clock.now_s > deadline_s || pools.all? { |spawned, live, most| spawned == live && live <= most && most == THREADS }
        sleep 0.2
      end
    end
  end
end
