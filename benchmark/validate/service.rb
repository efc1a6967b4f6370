# frozen_string_literal: true

require "puma_tuner"

module Validation
  # The service that a limited workload's app asks (places.rb), beside one server at a time.
  class Service
    PROGRAM = File.expand_path("places.rb", __dir__)
    ANSWER_LIMIT_S = 10

    # requests_count: that came; most_count: places in use at once
    Counts = Data.define(:requests_count, :most_count)

    # @param places_count [Integer, nil] nil: the workload asks none
    # @yieldparam service [Service, nil] for as long as the block lasts
    def self.run(places_count)
      return yield unless places_count
      service = new(places_count)
      service.start
      yield service
    ensure
      service&.stop
    end

    # @return [Integer]
    attr_reader :places_count

    # @return [Integer, nil] on the loopback interface; nil before `start`
    attr_reader :port

    def initialize(places_count)
      @places_count = places_count
    end

    # @raise [PumaTuner::MeasurementFailed] when it does not come up
    def start
      input, @asking = IO.pipe
      @telling, output = IO.pipe
      words = [Gem.ruby, "--disable-gems", PROGRAM, @places_count.to_s]
      @child = PumaTuner::Host::Child.new({"RUBYOPT" => nil, "RUBYLIB" => nil}, *words, in: input, out: output)
      @child.start
      [input, output].each(&:close)
      @port = Integer(told)
    end

    # Safe to call again, and when it never started.
    def stop
      @child&.stop
      [@asking, @telling].each { |pipe| pipe&.close }
    end

    # @return [Integer, nil]
    def pid = @child&.pid

    # @return [Hash{String => String}] for the app
    def environment = {"VALIDATION_SERVICE" => @port.to_s}

    # @return [Integer] CPU time so far
    def cpu_ns = PumaTuner::Probe::Processes.cpu_ns(pid).to_i

    # @return [Counts] since it was last asked
    # @raise [PumaTuner::MeasurementFailed] when it has ended
    def counts
      @asking.puts
      Counts.new(*told.split.map { |word| Integer(word) })
    rescue Errno::EPIPE
      raise PumaTuner::MeasurementFailed, "the service beside the server has ended"
    end

    # Asks it once.
    # @param requests_count [Integer, Range] that were sent since it was last asked
    # @param most_count [Integer, Range] places that these must have had in use at once
    # @return [String, nil] what it counted otherwise, as a clause
    def complaint(requests_count, most_count)
      counted = counts
      unless requests_count === counted.requests_count
        return "#{PumaTuner::Units.counted(counted.requests_count, "request")} came to the service, instead of #{requests_count}"
      end
      return if most_count === counted.most_count
      "the service had #{PumaTuner::Units.counted(counted.most_count, "place")} in use at once, instead of #{most_count}"
    end

    private

    def told
      line = @telling.gets if @telling.wait_readable(ANSWER_LIMIT_S)
      line or raise PumaTuner::MeasurementFailed, "the service beside the server does not answer"
    end
  end
end
