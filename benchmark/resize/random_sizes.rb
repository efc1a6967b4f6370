# frozen_string_literal: true

require_relative "server"

module Resizing
  # What came of it. answered_count, lost: of the clients; orders_count; miscounted: readings in which Puma counted other threads than the kernel has, LOOKS in
  # a row; last: [spawned, live, maximum] of each worker after all was over, live as the kernel has them; complaints: what the server said beside its usual lines
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

    # Puma counts out what ended within so many looks of the process, and a thread that has begun gets its name when it first has the GVL: what the kernel
    # has within so long before and after a look is held against what Puma counts there.
    LOOKS = 3
    NEAR_NS = 500_000_000
    LOOK_S = 0.1

    # @param readings [Array<Array(Integer, Integer, Integer, Integer, Integer)>] process, when it last told of its pool (ns), threads that Puma counted then;
    #   now (ns), threads that the kernel has now
    # @return [Array<Array(Integer, Array<Integer>)>] process and what Puma counted in LOOKS in a row, each beyond all that the kernel had near it
    def self.miscounted(readings)
      readings.group_by(&:first).flat_map do |pid, own|
        looks = own.uniq { |_, told_at_ns| told_at_ns }.filter_map do |_, told_at_ns, spawned_count|
          near = own.filter_map { |_, _, _, at_ns, live_count| live_count if (at_ns - told_at_ns).abs <= NEAR_NS }
          [spawned_count, near.any? && !Range.new(*near.minmax).cover?(spawned_count)]
        end
        looks.each_cons(LOOKS).select { |some| some.all?(&:last) }.map { |some| [pid, some.map(&:first)] }
      end
    end

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

    # A request whose connection broke is lost: Net::HTTP would repeat it and say nothing.
    #
    # @return [Array(Integer, Array<String>)] how many had their response, and what became of the others
    def ask(paths)
      count, lost = 0, []
      until @stopped
        begin
          Net::HTTP.start("127.0.0.1", @server.port, open_timeout: 30, read_timeout: 30, max_retries: 0) do |http|
            20.times do
              response = http.get(paths[count % paths.size])
              (response.code == "200") ? count += 1 : lost << response.code
              break if @stopped
            end
          end
        rescue SystemCallError, IOError, Net::HTTPBadResponse, Timeout::Error => error
          lost << error.class.name
          sleep 0.05
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
          look_for(@random.rand(PAUSES_S))
        end
      end
      count
    end

    def look_for(seconds)
      end_s = PumaTuner::Clock.now_s + seconds
      while PumaTuner::Clock.now_s < end_s
        sleep LOOK_S
        @server.trial.states.each do |state|
          live_count = @server.threads_count(state[:pid])
          @readings << [state[:pid], state[:told_at_ns], state[:pool][:spawned_count], PumaTuner::Clock.now_ns, live_count]
        end
      end
    end

    def miscounted = RandomSizes.miscounted(@readings)

    # An order for nobody, so that all have what is configured, and go on telling of their pools.
    def settled
      deadline_s = PumaTuner::Clock.now_s + 40
      @server.trial.hold do
        loop do
          @server.trial.order({})
          pools = @server.trial.states.map { |state| [state[:pool][:spawned_count], @server.threads_count(state[:pid]), state[:pool][:max_count]] }
          return pools if PumaTuner::Clock.now_s > deadline_s || pools.all? { |spawned, live, most| spawned == live && live <= most && most == THREADS }
          sleep 0.2
        end
      end
    end
  end
end
