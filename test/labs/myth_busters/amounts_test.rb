# frozen_string_literal: true

require_relative "fixture"

class MythBustersAmountsTest < TunerTest
  include MythBustersFixture

  Amounts = MythBustersFixture::Lab::Amounts
  Cost = MythBustersFixture::Lab::Cost
  ApacheBench = MythBustersFixture::Lab::ApacheBench

  test "makes the query the wanted share of a request, by Ruby's pace" do
    amounts = Amounts.of_sleep(0.05, io_ratio: 0.7, ruby_ns: 1_000.0, go_ns: 100.0)
    assert_in_delta 0.7, 0.05 / (0.05 + amounts.units * 1_000e-9), 0.001
    assert_in_delta 10 * amounts.units, amounts.level_units, 10, "as much time in Go is ten times the work"
    assert_equal({"MYTH_UNITS" => amounts.units.to_s, "MYTH_LEVEL_UNITS" => amounts.level_units.to_s, "MYTH_TALK_UNITS" => "0", "MYTH_SLEEP_S" => "0.050000"}, amounts.environment)
  end

  test "keeps the whole the same when the share changes" do
    [0.2, 0.95].each do |io_ratio|
      amounts = Amounts.of_whole(0.02, io_ratio:, ruby_ns: 1_000.0, go_ns: 100.0)
      assert_in_delta 0.02, amounts.sleep_s + amounts.units * 1_000e-9, 1e-5
    end
  end

  test "tells the cost of a million requests in core-seconds and GiB-hours" do
    cost = Cost.of(cpu_ns: 21_000_000, memory_bytes: 2 * 1024**3, throughput_per_s: 1_000_000 / 3_600.0)
    assert_in_delta 21_000, cost.cpu_s
    assert_in_delta 2, cost.gib_hours
    assert_equal [nil, nil], Cost.of(cpu_ns: nil, memory_bytes: nil, throughput_per_s: 10).to_h.values
  end

  test "reads what ab says, and nothing of a run with failures" do
    good = "Complete requests:      4\nFailed requests:        0\nRequests per second:    25.40 [#/sec] (mean)\n"
    assert_in_delta 25.4, ApacheBench.read(good)
    assert_raises(PumaTuner::InvalidMeasurement) { ApacheBench.read(good.sub("Failed requests:        0", "Failed requests:        2")) }
    assert_raises(PumaTuner::InvalidMeasurement) { ApacheBench.read("#{good}Non-2xx responses:      4\n") }
    assert_raises(PumaTuner::InvalidMeasurement) { ApacheBench.read("apr_socket_recv: Connection refused (111)") }
  end

  ROLLUP = <<~TEXT
    Rss:               20480 kB
    Pss:               12000 kB
    Pss_Anon:           6144 kB
    Pss_File:           5856 kB
    Anonymous:         10240 kB
  TEXT

  test "counts shared anonymous pages by parts, and mapped files once" do
    other = ROLLUP.sub("20480", "15360")
    assert_equal (6 + 6 + 10) * PumaTuner::Units::MIB, MythBustersFixture::Lab::Memory.of_rollups([ROLLUP, other])
    assert_nil MythBustersFixture::Lab::Memory.of_rollups([ROLLUP, ""]), "one has gone"
    assert_operator MythBustersFixture::Lab::Memory.of([Process.pid]), :>, PumaTuner::Units::MIB
  end
end
