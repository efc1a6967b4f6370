# frozen_string_literal: true

require "test_helper"

class CacheFolderTest < TunerTest
  NAMES = %w[PUMA_TUNER_CACHE XDG_CACHE_HOME HOME].freeze

  # @param values [Array<String, nil>] of NAMES
  # @param asking [Symbol] method of CacheFolder
  def path(*values, asking: :path)
    before = ENV.values_at(*NAMES)
    NAMES.zip(values) { |name, value| ENV[name] = value }
    PumaTuner::Host::CacheFolder.public_send(asking)
  ensure
    NAMES.zip(before) { |name, value| ENV[name] = value }
  end

  test "ours, then the user's by the XDG base directory specification" do
    assert_equal "/ours", path("/ours", "/cache", "/home/somebody")
    assert_equal "/cache/puma_tuner", path(nil, "/cache", "/home/somebody")
    [nil, "", "relative"].each { |none| assert_equal "/home/somebody/.cache/puma_tuner", path(nil, none, "/home/somebody") }
  end

  test "an empty name is none, and one that is not absolute is the same folder for all that we start" do
    assert_equal "/cache/puma_tuner", path("", "/cache", "/home/somebody")
    assert_equal File.join(Dir.pwd, "mine"), path("mine", nil, "/home/somebody")
  end

  test "a home that is none is told as the lack of one" do
    ["", "relative"].each do |home|
      assert_match(/none of PUMA_TUNER_CACHE/, assert_raises(PumaTuner::UsageError) { path(nil, nil, home) }.message)
    end
  end

  test "a folder of a user who is not there is a mistake, told with the variable, also where it may do without one" do
    %i[path find extensions].each do |asking|
      error = assert_raises(PumaTuner::UsageError, asking.to_s) { path("~nobody-of-that-name/a", "/cache", "/home/somebody", asking:) }
      assert_match(%r{\APUMA_TUNER_CACHE=~nobody-of-that-name/a: .*; give another path\z}, error.message)
    end
    %i[find extensions].each { |asking| assert_nil path(nil, nil, "", asking:) }
    assert_match(%r{\A/ours/extensions/\h{16}\z}, path("/ours", nil, nil, asking: :extensions))
  end

  test "a user without a home is told what to set" do
    skip "takes a root that can become nobody the system knows" unless Process.uid.zero?
    # What is loaded only where it is used has to be here before: the other user may not be allowed to read this folder.
    path("/ours", nil, nil)
    PumaTuner::StateFile.user_folder("XDG_CACHE_HOME", ".cache")
    told = IO.popen("-") do |child|
      next child.read if child
      Process::UID.change_privilege(54_321)
      $stdout.write(assert_raises(PumaTuner::UsageError) { path(nil, nil, nil) }.message)
      $stdout.flush
    ensure
      child || exit!
    end
    assert_match(/none of PUMA_TUNER_CACHE, XDG_CACHE_HOME and HOME is set/, told)
  end
end
