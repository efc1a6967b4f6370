# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LookupTest < TunerTest
  include Builders

  # A store in memory.
  Kept = Data.define(:machines) do
    def read(key) = machines[key]
  end

  def key(facts, ruby_version = "3.4.5", puma_version = "8.0.2") = Calibrate.key_of(facts, ruby_version, puma_version)

  def recorded = machine_facts(4, nil)

  def here = machine_facts(2, nil)

  def found(keys) = Calibrate::Lookup.new(store: Kept.new(keys), here:).call(observation(cores_count: 4))

  def own = [RUBY_VERSION, Calibrate::Lookup.own_puma_version]

  test "the recorded machine with the recorded versions comes first, then with ours, then this machine" do
    keys = [key(recorded), key(recorded, *own), key(here), key(here, *own)].uniq
    keys.each_index do |index|
      kept = keys.drop(index).to_h { |key| [key, key] }
      assert_equal keys[index], found(kept).machine
    end
    assert_nil found({})
  end

  test "the observed Ruby, with our own Puma, comes before our own Ruby" do
    server = server_facts(100).with(ruby_version: "3.3.8", puma_version: "7.2.1")
    lookup = ->(keys) { Calibrate::Lookup.new(store: Kept.new(keys), here:).call(observation(cores_count: 4).with(server:)) }
    keys = [key(recorded, "3.3.8", "7.2.1"), key(recorded, "3.3.8", own.last), key(recorded, *own)]
    assert_equal 3, keys.uniq.size
    keys.each_index do |index|
      kept = keys.drop(index).to_h { |key| [key, key] }
      assert_equal keys[index], lookup.call(kept).machine
    end
  end

  test "another machine's calibration is said to be one" do
    assert_nil found({key(recorded) => 1}).remark
    assert_match(/this machine \(test, 2 cores, .*\), recorded on another \(test, 4 cores, .*\)/, found({key(here) => 1}).remark)
  end

  test "what makes a machine another one is named: its kernel since, or a container's quota" do
    others = {"Linux 1.2" => recorded.with(kernel: "Linux 1.2"), "4 cores, limited to 0.5" => recorded.with(cpu_quota_cores: 0.5)}
    others.each do |difference, here|
      remark = Calibrate::Lookup.new(store: Kept.new({key(here) => 1}), here:).call(observation(cores_count: 4)).remark
      assert_match(/this machine \([^)]*#{difference}.*\), recorded on another \((?!.*#{difference})/, remark)
    end
  end

  test "our own Puma is known" do
    assert_match(/\A\d+\.\d+/, Calibrate::Lookup.own_puma_version)
  end
end
