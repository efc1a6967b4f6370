# frozen_string_literal: true

# Samples as a profiler would have taken them, written as people would draw them.
module Profiles
  Profile = PumaTuner::Profile

  module_function

  # @return [Profile::Frame]
  def frame(name, path = "/app/#{name[/\w+/].downcase}.rb", line = 1) = Profile::Frame.new(name:, path:, line:)

  # @param path [String] names from the root on, "App#call > Store#find"
  def stack(path, amount, thread: 1, at_ns: nil, own: {})
    frames = path.split(" > ").map { |name| frame(name, own.fetch(name) { "/app/#{name[/\w+/].downcase}.rb" }) }
    Profile::Stack.new(frames:, amount:, thread:, at_ns:)
  end

  # @param stacks [Hash{String => Integer}] as above, amounts in ns
  def samples(stacks = {}, list: nil, interval_ns: 1_000_000, **facts)
    list ||= stacks.map { |path, amount| stack(path, amount) }
    Profile::Samples.new(profiler: "vernier", profiler_version: "1.12.0", mode: "wall", unit: "ns", stacks: list, interval_ns:,
      samples_count: interval_ns && list.sum(&:amount) / interval_ns, **facts)
  end

  # @return [Profile::Costs] of these samples, with what is not said as in an everyday profile
  def costs(*samples, **facts)
    aggregate = Profile::Aggregate.new(samples)
    first = samples.first
    Profile::Costs.new(profiler: first.profiler, profiler_version: first.profiler_version, mode: first.mode, unit: first.unit, target: "config.ru under our load",
      methods: aggregate.methods, tree: aggregate.tree, allocations: aggregate.allocations, hints: [], total_amount: aggregate.total_amount,
      left_out_amount: aggregate.left_out_amount, samples_count: samples.sum { |one| one.samples_count.to_i }, interval_ns: first.interval_ns, lost_count: 0,
      duration_ns: 10_000_000_000, work_count: 100, work_noun: "request", files: ["/tmp/a.vernier.json"], viewer: "Open it at profiler.firefox.com.",
      machine: PumaTuner::Probe::MachineFacts.new(cores_count: 2, cpu_model: "AMD EPYC", cpu_quota_cores: nil, memory_bytes: 8 * 2**30, kernel: "Linux 6.12.0",
        load_average: 0.3, cpu_pressure_ratio: 0.01), command: "puma_tuner profile config.ru", recorded_at: "2026-03-02T10:15:00Z", unknown: [], **facts)
  end

  # @param counts [Hash{String => Integer}] calls by name; callers: {name => {caller => count}}
  # @return [Profile::Costs] of a profiler that follows every call
  def traced(counts, callers: {}, selves: {}, **facts)
    calls = counts.map do |name, count|
      Profile::Call.new(frame: frame(name), calls_count: count, self_amount: selves.fetch(name, count), total_amount: count,
        callers: callers.fetch(name, {}).transform_keys { |caller| frame(caller) })
    end
    list = selves.map { |name, amount| stack(name, amount) }
    costs(samples(list:, interval_ns: nil, calls:), samples_count: nil, profiler: "ruby-prof", work_count: 1, **facts)
  end

  # @return [Profile::CostDiff]
  def two_profiles
    before = costs(samples({"App#call > Store#find" => 400_000_000, "App#call > View#render" => 300_000_000}))
    after = costs(samples({"App#call > Store#find" => 100_000_000, "App#call > View#render" => 310_000_000}))
    Profile::Diff.new(before, after).call
  end
end
