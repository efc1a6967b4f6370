# frozen_string_literal: true

require_relative "server"

module Resizing
  # Traffic that waits, and then traffic that computes, before a server whose number of threads `auto` finds; and the same before servers with fixed numbers.
  #
  # name; path; fixed: {threads => [requests/s, p99 in ns]}; threads_count: that `auto` ended with; ended: [requests/s, p99] there, measured in the same way
  Shape = Data.define(:name, :path, :fixed, :threads_count, :ended, :told) do
    # @return [Array(Integer, Array)] the fixed number with the highest throughput
    def best = fixed.max_by { |_, (per_s, _)| per_s }

    def ratio = ended.first.fdiv(best.last.first)

    # @return [Symbol]
    def outcome = (ratio >= 1 - TwoShapes::WITHIN_RATIO) ? :met : :missed
  end

  # Both measured by the same clients.
  class TwoShapes
    SHAPES = {"waits 30 ms" => "/io", "computes some 5 ms" => "/cpu"}.freeze
    FIXED = [1, 2, 3, 4, 6, 8].freeze
    CONNECTIONS = 16
    BEGINS_WITH = 3

    # Connections that last stay with the process that they met first.
    REUSE = (20..60)
    WITHIN_RATIO = 0.1

    # @param half_s [Numeric] how long `auto` has for each shape
    # @param measure_s [Numeric]
    # @param cool_down_s [Numeric]
    def initialize(half_s: 240, measure_s: 12, cool_down_s: 10, say: ->(_) {})
      @half_s, @measure_s, @cool_down_s, @say = half_s, measure_s, cool_down_s, say
    end

    # @return [Array<Shape>]
    def run
      fixed = FIXED.to_h { |threads_count| [threads_count, Server.run(threads_count) { |server| SHAPES.values.to_h { |path| [path, measured(server, path)] } }] }
      ends = automatic
      SHAPES.map { |name, path| Shape.new(name:, path:, fixed: fixed.transform_values { |paths| paths.fetch(path) }, **ends.fetch(path)) }
    end

    private

    # @return [Array(Float, Integer)] requests/s and p99
    def measured(server, path, seconds = @measure_s)
      arrivals = PumaTuner::Load::Arrivals.closed(reuse: REUSE)
      outcome = PumaTuner::Load::Native.new.run(url_base: server.url, duration_s: seconds, mix: PumaTuner::Load::Mix.of_paths([path]), connections_count: CONNECTIONS, arrivals:, seed: 1)
      [outcome.throughput_per_s, outcome.p99_ns].tap { |found| @say.call("#{path}: #{found.first.round}/s") }
    end

    # @return [Hash{String => Hash}] by path
    def automatic
      Server.run(BEGINS_WITH) do |server|
        told = []
        auto = PumaTuner::Trial::Automatic.new(server.trial, mode: :auto, cool_down_s: @cool_down_s)
        thread = Thread.new { auto.call { |one| told << one && @say.call("#{one.threads_count}: #{PumaTuner::Report::TrialWords.step(one.statement)}") } }
        SHAPES.values.to_h do |path|
          measured(server, path, @half_s)
          found = [path, {threads_count: auto.threads_count, ended: measured(server, path), told: told.dup}]
          told.clear
          found
        end
      ensure
        thread&.kill&.join
      end
    end
  end
end
