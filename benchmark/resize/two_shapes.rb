# frozen_string_literal: true

require_relative "server"

module Resizing
  # Traffic of one shape, and then of another, before a server whose number of threads `auto` finds; and the same before servers with fixed numbers.
  #
  # name; fixed: {threads => [Window]}, of interleaved rounds
  # threads_count: that `auto` ended with; settled: whether it kept it while it was measured; stay_count: the number that doing nothing would have kept
  # rounds: {best:, ended:, stay: => [Window]}, measured anew, one of each in a round, with the number that was best in `fixed`
  Shape = Data.define(:name, :fixed, :threads_count, :settled, :stay_count, :rounds) do
    # @param fixed [Hash{Integer => Array<Window>}]
    # @return [Integer] the fixed number with the best median
    def self.best(fixed) = fixed.min_by { |_, windows| Bench.median(windows.map(&:cost)) }.first

    def best_count = self.class.best(fixed)

    # @return [Bench::Verdict] by how many percent what `auto` ended with is worse than the best: in pairs of the same round, whose best was chosen in others, so
    #   that luck is no part of it
    def verdict
      Bench::Verdict.new(claim: name, unit: "%", target: TwoShapes::WITHIN_PERCENT, estimate: worse(:ended), noise: Bench::Verdict::NO_PAIR)
    end

    # @return [PumaTuner::Stats::Estimate] percent, of doing nothing
    def worse_stay = worse(:stay)

    # @return [Symbol] what still changes can't be said to have ended within anything
    def outcome = (verdict.outcome == :met && !settled) ? :not_shown : verdict.outcome

    private

    def worse(kind) = Window.worse(*rounds.values_at(:best, kind))
  end

  # What clients saw for a while. per_s: requests; p99_ns
  Window = Data.define(:per_s, :p99_ns) do
    # @return [Float] of which less is better
    def cost = 1.0 / per_s

    # @param best [Array<Window>] one of each round
    # @param others [Array<Window>] of the same rounds
    # @return [PumaTuner::Stats::Estimate] by how many percent the others are worse
    def self.worse(best, others)
      ratio = PumaTuner::Stats::PairedRatio.of(*[best, others].map { |windows| windows.map(&:cost) })
      percent = ->(value) { (value - 1) * 100 }
      ratio.with(value: percent[ratio.value], low: percent[ratio.low], high: percent[ratio.high])
    end
  end

  # Both measured by the same clients.
  class TwoShapes
    # path; share: of the time of a window
    Traffic = Data.define(:path, :share)

    # Connections that last stay with the process that they met first.
    REUSE = (20..60)

    # What waits is served by many threads alone. What gives the GVL away in many tiny reads is served by few: with many, each
    # read hands it to another thread.
    SHAPES = {
      "waits 30 ms" => Traffic.new("/io", 0.5),
      "computes between 100 reads of a file" => Traffic.new("/reads", 1.0)
    }.freeze
    FIXED = [1, 2, 3, 5, 8].freeze
    FIXED_ROUNDS = 3

    # The exact interval of 95% needs six, and is then as wide as the least and the most of them: one moment of a shared machine spoils it.
    ROUNDS = 16
    CONNECTIONS = 16
    BEGINS_WITH = 3
    WITHIN_PERCENT = 10
    SETTLING_S = 2
    WARM_UP_S = 4

    # @param thread [Thread] of `auto`
    # @raise whatever has ended it
    def self.ensure_alive(thread)
      return if thread.alive?
      thread.value
      raise PumaTuner::MeasurementFailed, "auto has ended before its time"
    end

    # @param half_s [Numeric] how long `auto` has for each shape
    # @param measure_s [Numeric] a window, on average over the shapes
    # @param cool_down_s [Numeric]
    def initialize(half_s:, measure_s:, cool_down_s:, say: ->(_) {})
      @half_s, @measure_s, @cool_down_s, @say = half_s, measure_s, cool_down_s, say
    end

    # @return [Array<Shape>]
    def run
      ends = automatic
      fixed = SHAPES.transform_values { {} }
      rounds(FIXED, FIXED_ROUNDS) { |count, server| SHAPES.each { |name, traffic| (fixed[name][count] ||= []) << measured(server, traffic) } }
      stays = [BEGINS_WITH, *ends.values.map { |one| one.fetch(:threads_count) }]
      SHAPES.keys.zip(stays).map { |name, stay_count| shape(name, fixed.fetch(name), stay_count, ends.fetch(name)) }
    end

    # Two fixed numbers under the traffic that tells them apart least, in more rounds than a whole run has time for.
    #
    # @param counts [Array<Integer>] threads, the one that others are held against first
    # @param rounds_count [Integer]
    # @return [Hash{Integer => Array<Window>}]
    def beside(counts, rounds_count:)
      found = Hash.new { |windows, count| windows[count] = [] }
      rounds(counts, rounds_count) { |count, server| found[count] << measured(server, SHAPES.values.last) }
      found
    end

    private

    def shape(name, fixed, stay_count, ended)
      traffic = SHAPES.fetch(name)
      counts = {best: Shape.best(fixed), ended: ended.fetch(:threads_count), stay: stay_count}
      found = counts.transform_values { [] }
      with(counts.values.uniq) do |servers|
        ROUNDS.times { |round| Bench.order(counts.keys, round).each { |kind| found[kind] << measured(servers.fetch(counts.fetch(kind)), traffic) } }
      end
      Shape.new(name:, fixed:, stay_count:, rounds: found, **ended)
    end

    # @yieldparam count [Integer]
    # @yieldparam server [Server]
    def rounds(counts, rounds_count)
      with(counts) { |servers| rounds_count.times { |round| Bench.order(counts, round).each { |count| yield count, servers.fetch(count) } } }
    end

    # They all run at a time, and one of them has traffic. Each has had a window of each shape before, of which nothing is kept.
    #
    # @yieldparam servers [Hash{Integer => Server}]
    def with(counts, servers = {}, &)
      count, *others = counts
      unless count
        servers.each_value { |server| SHAPES.each_value { |traffic| measured(server, traffic, WARM_UP_S) } }
        return yield(servers)
      end
      Server.run(count) { |server| with(others, {**servers, count => server}, &) }
    end

    # @return [Window]
    def measured(server, traffic, seconds = @measure_s * traffic.share)
      generator = PumaTuner::Load::Native.new(settling_limit_s: SETTLING_S)
      outcome = generator.run(url_base: server.url, duration_s: seconds, mix: PumaTuner::Load::Mix.of_paths([traffic.path]), seed: 1,
        arrivals: PumaTuner::Load::Arrivals.closed(reuse: REUSE), connections_count: CONNECTIONS)
      Window.new(per_s: outcome.throughput_per_s, p99_ns: outcome.p99_ns)
        .tap { |found| @say.call("#{traffic.path}: #{found.per_s.round}/s, p99 #{PumaTuner::Units.duration(found.p99_ns)}") }
    end

    # @return [Hash{String => Hash}] by name of the shape
    # @raise whatever has ended `auto` before its time
    def automatic
      Server.run(BEGINS_WITH) do |server|
        auto = PumaTuner::Trial::Automatic.new(server.trial, mode: :auto, cool_down_s: @cool_down_s)
        thread = Thread.new { auto.call { |one| @say.call("#{one.threads_count}: #{PumaTuner::Report::TrialWords.step(one.statement)}") } }
        thread.report_on_exception = false
        SHAPES.transform_values do |traffic|
          measured(server, traffic, @half_s)
          before = auto.threads_count
          measured(server, traffic)
          TwoShapes.ensure_alive(thread)
          {threads_count: auto.threads_count, settled: auto.threads_count == before}
        end
      ensure
        thread&.kill&.join
      end
    end
  end
end
