# frozen_string_literal: true

require "test_helper"
require "json"

class ProfileReadingTest < TunerTest
  Profile = PumaTuner::Profile

  MS = 1_000_000

  # A file of StackProf's cpu mode, of one method: the CPU time is shared out over its samples, so each file has an interval of its own.
  def stackprof_file(path, samples_count, cpu_ms:)
    told = {version: 1.2, mode: "cpu", interval: 1_000, samples: samples_count, missed_samples: 0, metadata: {profiler_version: "0.2.28", cpu_ns: cpu_ms * MS, pid: 7},
            frames: {"1" => {name: "App#call", file: "/app/app.rb", line: 3}}, raw: [1, 1, samples_count], raw_sample_timestamps: (1..samples_count).to_a}
    told.update(raw: [], frames: {}) if samples_count.zero?
    File.write(path, JSON.generate(told))
    path
  end

  # @param counts [Array<Integer>] samples of each file
  # @return [Profile::Costs]
  def costs(*counts, cpu_ms: 400)
    Dir.mktmpdir do |folder|
      files = counts.each_with_index.map { |count, index| stackprof_file("#{folder}/#{index}.stackprof.json", count, cpu_ms:) }
      Profile::Reading.new(profiler: PumaTuner::Probe::Profilers.find("stackprof"), mode: "cpu", target: "config.ru", whole: true).call(files, work_count: 100)
    end
  end

  test "the interval is the mean of all samples, and files without a sample have no say" do
    assert_equal 1 * MS, costs(400).interval_ns
    assert_in_delta 4 * 400.0 / 933 * MS, costs(400, 200, 133, 200).interval_ns, 1
    assert_equal 1 * MS, costs(0, 400).interval_ns
  end

  test "equal amounts are no difference, whichever of the files comes first" do
    counts = [400, 200, 133, 100] * 5
    total = Profile::Diff.new(costs(*counts), costs(*counts.reverse)).call.total
    assert_equal :not_shown, total.outcome
    assert_in_delta 1, total.ratio.value, 0.001
    dearer = Profile::Diff.new(costs(*counts), costs(*counts.reverse, cpu_ms: 800)).call.total
    assert_equal :dearer, dearer.outcome
    assert_in_delta dearer.after / dearer.before, dearer.ratio.value, 0.001
  end

  # @return [String] why a profile is refused that has something else here
  def refusal(profiler, told)
    Dir.mktmpdir do |folder|
      File.write(path = "#{folder}/profile.json", JSON.generate(told))
      assert_raises(Profile::UnreadableProfile) { Profile::Readers.read(PumaTuner::Profile.profiler(profiler), path) }.message
    end
  end

  OURS = {kind: "memory_profiler", format: 2, profiler_version: "1.1.0", mode: "objects"}.freeze

  test "of what a profile says of itself, a refusal tells the beginning, however long it is" do
    long = "9" * 100_000
    {format: /of our format "9{39}… for/, profiler_version: /of memory_profiler 9{39}…, and/, mode: /in mode "9{39}…, which/}.each do |field, words|
      message = refusal("memory_profiler", {**OURS, field => long})
      assert_match(words, message)
      assert_operator message.size, :<, 500
    end
    assert_match(/StackProf's format "9{39}…/, refusal("stackprof", {version: long, mode: "cpu", missed_samples: 0}))
    assert_match(/of version "9{39}… of the Firefox/, refusal("vernier", {meta: {product: "Ruby/Vernier", preprocessedProfileVersion: long}}))
    assert_operator refusal("memory_profiler", {**OURS, profiler_version: "x" * 100_000}).size, :<, 700
  end

  test "a byte order mark in front of a profile is none of its characters" do
    Dir.mktmpdir do |folder|
      bytes = File.binread(stackprof_file(path = "#{folder}/1.stackprof.json", 5, cpu_ms: 10))
      File.binwrite(path, "\xEF\xBB\xBF".b + bytes)
      assert_equal 5, Profile::Readers.read(PumaTuner::Profile.profiler("stackprof"), path).samples_count
    end
  end
end
