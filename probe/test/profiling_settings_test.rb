# frozen_string_literal: true

require "test_helper"

# What a target process is told of its profile.
class ProfileSettingsTest < TunerTest
  include PumaTuner

  SETTINGS = Probe::Profiling::Settings.new(profiler: "stackprof", mode: "cpu", interval_us: 1_000, folder: "/nowhere",
    scope: "window", token: nil, paths: %w[/a/lib /b/lib])

  test "it comes through the environment" do
    assert_equal SETTINGS, Probe::Profiling::Settings.from_environment(SETTINGS.to_environment)
    assert_nil Probe::Profiling::Settings.from_environment({})
  end

  test "a profiler that is installed for another Ruby is not loaded into the app's, and that is told" do
    environment = SETTINGS.to_environment.transform_values { |text| text.sub(/^ruby=.*/, "ruby=2.7") }
    settings = Probe::Profiling::Settings.from_environment(environment)
    assert_empty settings.paths
    before = $LOAD_PATH.dup
    error = assert_raises(LoadError) { Probe::Profiling::Session.new(settings).start }
    assert_includes error.message, "not installed for the app's Ruby, #{RUBY_VERSION}"
    assert_equal before, $LOAD_PATH
  end

  test "in the log of requests the one that a connection goes on with is none of Puma's list, though the one before was" do
    log = Probe::Profiling::RequestLog
    client = Struct.new(:env, :puma_tuner_queued_ns).new({"REQUEST_METHOD" => "GET", "PATH_INFO" => "/"}, Probe::GvlClock.now_ns)
    Thread.new { log.begin_log && log.begin(client) && log.finish(client) }.join
    assert_nil client.puma_tuner_queued_ns
  end
end
