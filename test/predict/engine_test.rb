# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require "support/command_line"
require "tmpdir"

# Without the simulator's extension.
class EngineTest < TunerTest
  include CommandLine

  WITHOUT_CORE = {"RUBYOPT" => "-I#{File.expand_path("../../lib", __dir__)} -r#{File.expand_path("../fixtures/predict/without_core", __dir__)}"}.freeze

  def assert_told(result)
    assert_mistake(/^puma_tuner: nothing can be predicted, as the simulator's extension is not there .*: gem pristine puma_tuner.*\Z/, result)
  end

  test "predict says in one line why not" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "observation.json")
      PumaTuner::Document.write(TuningFixture.observation, path)
      assert_told(puma_tuner("predict", path, "--workers", "1", "--threads", "1..2", folder:, environment: WITHOUT_CORE))
    end
  end

  test "tune says so before it starts anything" do
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "File.write('started', ''); run ->(_) { [200, {}, []] }")
      assert_told(puma_tuner("tune", app, folder:, environment: WITHOUT_CORE))
      refute_path_exists File.join(folder, "started")
    end
  end
end
