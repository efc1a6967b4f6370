# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The rest of it is tested with what is kept there: see predict/track_record_test.rb and advise/record_test.rb.
class StateFileTest < TunerTest
  StateFile = PumaTuner::StateFile

  # @return [StateFile] that takes any entry
  def file(path, told = [])
    StateFile.new(path, kept_count: 3, say: ->(text) { told << text }, clock: -> { Time.at(0).utc }) { true }
  end

  test "it lies in the user's state folder, where a path that is not absolute does not count" do
    with_environment("XDG_STATE_HOME" => "/state", "HOME" => "/home/somebody") { assert_equal "/state/puma_tuner/a.json", StateFile.path("a.json") }
    [nil, "", "relative"].each do |none|
      with_environment("XDG_STATE_HOME" => none, "HOME" => "/home/somebody") do
        assert_equal "/home/somebody/.local/state/puma_tuner/a.json", StateFile.path("a.json")
      end
    end
  end

  test "for a user without a home nothing is known, nothing is kept, and that is said" do
    ["", "relative"].each { |home| with_environment("XDG_STATE_HOME" => nil, "HOME" => home) { assert_nil StateFile.path("a.json") } }
    told = []
    file(nil, told).then do |state|
      assert_equal [[], []], [state.of("an app"), state.keys_of({"GET /" => 1})]
      assert_empty told
      state.add("an app", [{"a" => 1}])
    end
    assert_match(/nothing is remembered of this app, as neither XDG_STATE_HOME nor HOME/, told.join)
  end

  test "one with bytes that are no text is put aside as a damaged one is" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "a.json")
      damaged = %({"schema_version":1,"apps":{"b\xff":[]}})
      File.binwrite(path, damaged)
      told = []
      file(path, told).add("an app", [{"a" => 1}])
      assert_equal [{"a" => 1}], file(path).of("an app")
      assert_match(/it is damaged; it is now .*unread/, told.join)
      assert_equal damaged.b, File.binread(Dir["#{path}.*.unread"].first)
    end
  end
end
