# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"
require "tmpdir"

class StoreTest < TunerTest
  include Builders

  Store = PumaTuner::Calibrate::Store

  def calibrated_machine(key = "a machine")
    machine(cores_count: 2).with(calibrated: Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: key, ruby_version: "3.4.5",
      puma_version: "8.0.2", round_trip_ns: 30_000))
  end

  def in_store = Dir.mktmpdir { |folder| yield Store.new(File.join(folder, "puma_tuner")), folder }

  test "a calibration is read again by its key" do
    in_store do |store|
      assert_nil store.read("a machine")
      path = store.write(calibrated_machine)
      assert_equal store.path("a machine"), path
      assert_equal calibrated_machine, store.read("a machine")
      assert_nil store.read("another machine")
    end
  end

  test "a file that can't be read, or is another's or another version's, is as good as absent" do
    in_store do |store|
      path = store.write(calibrated_machine)
      good = File.read(path)
      [
        "", "{", "[]", "\xff\xfe", good.sub('"kind":"machine"', '"kind":"workload"'), good.sub('"schema_version":1', '"schema_version":2'),
        good.sub('"tick_ns"', '"tack_ns"'), good.sub('"machine_key":"a machine"', '"machine_key":"b machine"'),
        good.sub(/"calibrated":\{.*?\}/, '"calibrated":null'), good.sub(/"calibrated":\{.*?\}/, '"calibrated":5')
      ].each do |content|
        refute_equal good, content
        File.binwrite(path, content)
        assert_nil store.read("a machine"), content
      end
      File.write(path, good)
      assert_equal calibrated_machine, store.read("a machine")
    end
  end

  test "what was kept before switches, the GVL's rule and shared cores were measured is read, without them" do
    in_store do |store|
      path = store.write(calibrated_machine)
      fields = JSON.parse(File.read(path))
      %w[switch_idle_cpu_ns switch_busy_cpu_ns gvl_rule meeting_ratio].each { |name| assert fields.key?(name) && fields.delete(name).then { true } }
      %w[ruby_description switch_costs].each { |name| assert fields["calibrated"].key?(name) && fields["calibrated"].delete(name).then { true } }
      File.write(path, JSON.generate(fields))
      assert_equal calibrated_machine, store.read("a machine")
    end
  end

  test "writing takes the place of what was there" do
    in_store do |store|
      store.write(calibrated_machine)
      store.write(calibrated_machine.with(tick_ns: 7))
      assert_equal 7, store.read("a machine").tick_ns
      assert_equal 1, Dir[File.join(File.dirname(store.path("a machine")), "*")].size
    end
  end

  test "where nothing can be written, the message names PUMA_TUNER_CACHE" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "file"), "")
      store = Store.new(File.join(folder, "file", "puma_tuner"))
      assert_match(/cannot keep the calibration.*PUMA_TUNER_CACHE/, assert_raises(PumaTuner::UsageError) { store.write(calibrated_machine) }.message)
      assert_nil store.read("a machine")
    end
  end

  test "a PUMA_TUNER_CACHE of a user who is not there is told before there is anything to be kept" do
    with_environment("PUMA_TUNER_CACHE" => "~nobody-of-that-name") do
      assert_match(/\APUMA_TUNER_CACHE=~nobody-of-that-name: /, assert_raises(PumaTuner::UsageError) { Store.new }.message)
    end
  end
end
