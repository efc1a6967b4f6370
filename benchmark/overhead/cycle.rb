# frozen_string_literal: true

require "rbconfig"

module Overhead
  # Part 1: CPU nanoseconds per release and re-acquisition of the GVL, a fresh process for each sample.
  class Cycle
    ROUNDS_COUNT = 15
    CHILD = File.expand_path("cycle/child.rb", __dir__)
    SAMPLE_LIMIT_S = 60
    QUICK_DIVISOR = 50

    # threads_count: in the process; cycles_count: in a sample
    Form = Data.define(:key, :title, :threads_count, :cycles_count)

    FORMS = [
      Form.new(key: "c_alone", title: "empty function, 1 thread", threads_count: 1, cycles_count: 1_000_000),
      Form.new(key: "c_blocked", title: "empty function, 1 thread beside 31 asleep", threads_count: 32, cycles_count: 1_000_000),
      Form.new(key: "c_busy", title: "empty function, 32 threads at once", threads_count: 32, cycles_count: 64_000),
      Form.new(key: "pipe_alone", title: "pipe reads, 1 thread", threads_count: 1, cycles_count: 300_000),
      Form.new(key: "pipe_blocked", title: "pipe reads, 1 thread beside 31 asleep", threads_count: 32, cycles_count: 300_000),
      Form.new(key: "pipe_busy", title: "pipe reads, 32 threads at once", threads_count: 32, cycles_count: 64_000)
    ].freeze

    TITLE = "CPU per release and re-acquisition of the GVL"
    METHOD = <<~TEXT
      Each sample is a fresh process that releases and takes the GVL many times, and divides the CPU time of the whole process
      by the count. An *empty function* is called from C without the GVL (`benchmark/overhead/cycle/cycle.c`): the cheapest
      cycle there is, hence the least noise. *Pipe reads* are of one byte that is there: what Ruby programs do. The threads
      *asleep* are there for a tool that goes through all threads, or through all timers, at each event. With 32 threads *at once*
      every cycle is also a switch between threads, and finds less in the caches.

      Where ours goes: the same probe with parts of it doing nothing (`benchmark/overhead/parts.rb`), down to hooks that Ruby calls
      five times over and that return at once: each step between two of these lines is the cost of what the upper one has more.
    TEXT

    # @return [String] the folder of OverheadCycle, to put on the load path
    # @raise [PumaTuner::UsageError] when it can't be built here
    def self.helper = @helper ||= Bench::Native.build(File.join(__dir__, "cycle"), "overhead_cycle")

    # @return [Array<Series>]
    attr_reader :series

    # @param variants [Array<Variant>]
    # @param folder [String] where the probe lies without its parts
    def initialize(variants:, rounds_count:, quick:, folder:)
      @rounds_count = rounds_count
      @divisor = quick ? QUICK_DIVISOR : 1
      @folder = folder
      @series = FORMS.map do |form|
        Series.new(key: form.key, title: form.title, unit: "ns",
          variants: variants.select { |variant| variant.threads <= form.threads_count })
      end
    end

    # Every form of every variant once a round.
    def run
      @rounds_count.times do |round|
        warn "cycle: round #{round + 1} of #{@rounds_count}"
        @series.each do |series|
          Bench.order(series.variants, round).each { |variant| series.add(round, variant, sample(series, variant)) }
        end
      end
    end

    private

    def sample(series, variant)
      cycles_count = FORMS.find { |form| form.key == series.key }.cycles_count / @divisor
      output, status = PumaTuner::Host::Child.output_of(command(series, variant, cycles_count), limit_s: SAMPLE_LIMIT_S)
      return Bench::Failure.new(reason: "not done within #{SAMPLE_LIMIT_S} s") unless output
      found = output[/^overhead (\S+)$/, 1]
      return Float(found) if status.success? && found
      Bench::Failure.of_child(output, status)
    end

    # The library is there for the one variant that it is about.
    def command(series, variant, cycles_count)
      own = variant.ours? ? [*(Parts.library(@folder, variant.key) if Parts::WITHOUT.key?(variant.key)), Bench::LIBRARY_FOLDER] : []
      [RbConfig.ruby, *own.flat_map { |folder| ["-I", folder] }, "-I", Cycle.helper, CHILD, series.key, variant.key, cycles_count.to_s]
    end
  end
end
