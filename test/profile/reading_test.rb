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
end
