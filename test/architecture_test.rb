# frozen_string_literal: true

require "test_helper"
require "prism"

# A stage may use earlier stages' values, never their workings.
class ArchitectureTest < TunerTest
  STAGES = %w[Measure Model Predict Advise Prove Report].freeze
  LIBRARY = File.expand_path("../lib/puma_tuner", __dir__)
  PROBE = File.expand_path("../probe/lib", __dir__)

  # Collects constant paths such as Model::Workload.
  class ConstantPaths < Prism::Visitor
    attr_reader :paths

    def initialize
      @paths = []
      super
    end

    def visit_constant_path_node(node)
      @paths << node.full_name
    rescue Prism::ConstantPathNode::DynamicPartsInConstantPathError
      super
    end
  end

  def paths_in(path)
    visitor = ConstantPaths.new
    Prism.parse_file(path).value.accept(visitor)
    visitor.paths
  end

  # @return [Array<String>] the first word of each constant's path
  def constants_in(path)
    paths_in(path).map { |name| name.delete_prefix("PumaTuner::")[/\w+/] }
  end

  # @return [Array<String>] "Stage::Name" for each use of a stage's constant in the file
  def uses_in(path)
    paths_in(path).filter_map { |name| name.delete_prefix("PumaTuner::")[/\A(?:#{STAGES.join("|")})::\w+/] }
  end

  def value?(name) = PumaTuner.const_get(name).then { |constant| constant.is_a?(Class) && constant < PumaTuner::Document::Writing }

  STAGES.each_with_index do |stage, place|
    test "#{stage} uses values of earlier stages only" do
      files = Dir["#{LIBRARY}/#{stage.downcase}/**/*.rb"]
      refute_empty files
      files.each do |path|
        (uses_in(path).uniq - [stage]).reject { |name| name.start_with?("#{stage}::") }.each do |name|
          assert_operator STAGES.index(name[/\w+/]), :<, place, "#{path} uses #{name}, of a later stage"
          assert value?(name) || name == "Measure::LateWindow", "#{path} uses #{name}, which is no value"
        end
      end
    end
  end

  test "the ground knows no stage's workings" do
    Dir["#{LIBRARY}/{host,load,stats}/**/*.rb"].each do |path|
      assert_empty uses_in(path), path
      refute_includes constants_in(path), "Calibrate", path
    end
  end

  # It has a server observed, as the Tuner does, and makes one of the model's values.
  CALIBRATE_MAY_USE = %w[Measure::LoadedWindow Model::Machine Model::Calibrated Model::SwitchCost].freeze

  test "calibrate stands beside the stages: it uses values and one way in, and no stage uses it" do
    files = Dir["#{LIBRARY}/calibrate/**/*.rb"] + ["#{LIBRARY}/calibrate.rb"]
    assert_operator files.size, :>, 10
    assert_empty files.flat_map { |path| uses_in(path) }.uniq - CALIBRATE_MAY_USE
    Dir["#{LIBRARY}/{#{STAGES.map(&:downcase).join(",")}}/**/*.rb"].each { |path| refute_includes constants_in(path), "Calibrate", path }
  end

  test "profile stands beside the stages: it uses none of them, and no stage but report uses it, its values alone" do
    files = Dir["#{LIBRARY}/profile/**/*.rb"] + ["#{LIBRARY}/profile.rb"]
    assert_operator files.size, :>, 30
    assert_empty files.flat_map { |path| uses_in(path) }.uniq
    Dir["#{LIBRARY}/{#{STAGES.map(&:downcase).join(",")}}/**/*.rb"].each { |path| refute_includes constants_in(path), "Profile", path }
  end

  test "labs stand outside: in the library only the map and the command name them, for a checkout" do
    using = Dir["#{LIBRARY}{.rb,/**/*.rb}"].select { |path| File.read(path).match?(/\bLabs?\b/) }
    assert_equal %w[puma_tuner.rb puma_tuner/cli.rb puma_tuner/cli/commands.rb], using.map { |path| path.delete_prefix("#{File.dirname(LIBRARY)}/") }.sort
  end

  test "fleet stands beside the stages: it uses none of them, and no stage uses it" do
    files = Dir["#{LIBRARY}/fleet/**/*.rb"] + ["#{LIBRARY}/fleet.rb"]
    assert_operator files.size, :>, 10
    assert_empty files.flat_map { |path| uses_in(path) }.uniq - ["Probe::Endpoint"]
    Dir["#{LIBRARY}/{#{STAGES.map(&:downcase).join(",")}}/**/*.rb"].each { |path| refute_includes constants_in(path), "Fleet", path }
  end

  test "the probe knows nothing of what runs in the terminal" do
    files = Dir["#{PROBE}/**/*.rb"]
    assert_operator files.size, :>, 70
    theirs = Dir["#{LIBRARY}/*.rb"].map { |path| File.basename(path, ".rb").split("_").map(&:capitalize).join } + %w[CLI AccessLog RuleOfThumb] - %w[RuleOfThumb]
    files.each { |path| assert_empty constants_in(path) & theirs, path }
  end

  test "one file knows Puma" do
    knows = Dir["#{PROBE}/**/*.rb"].select { |path| paths_in(path).any? { |name| name.start_with?("::Puma::") } || File.read(path).match?(/(server|pool|owner|klass|class)\.prepend\(/) }
    assert_equal %w[off_gvl.rb prometheus_client.rb puma.rb yjit_off.rb], knows.map { |path| File.basename(path) }.sort
  end

  test "what runs in the serving process needs no gem" do
    script = "require 'puma_tuner/probe'; PumaTuner::Probe.start(way_in: 'run'); " \
             "(PumaTuner::Probe.constants - [:FIRST]).each { |n| PumaTuner::Probe.const_get(n) }; " \
             "PumaTuner.export('tcp://127.0.0.1:0'); PumaTuner::Export.constants.each { |n| PumaTuner::Export.const_get(n) }; PumaTuner::Jobs.install; PumaTuner::ProfilerMiddleware; " \
             "PumaTuner::Export::Server.new(PumaTuner::Probe.recording.ledgers, leader_pid: Process.pid, labels: {}, endpoints_max: 9).text; " \
             "puts $LOADED_FEATURES.grep(%r{/gems/|/lib/puma_tuner}).grep_v(%r{/probe/lib/}), 'done'"
    output = IO.popen([RbConfig.ruby, "--disable-gems", "-I", PROBE, "-e", script, unsetenv_others: true], &:read)
    assert_equal "done\n", output
  end

  # Of C: a file calls those whose functions it names.
  test "the probe's C flows one way" do
    sources = Dir[File.expand_path("../probe/ext/puma_tuner_probe/*.c", __dir__)].to_h { |file| [File.basename(file), File.read(file)] }
    home = sources.flat_map { |file, text| text.scan(/^(?!static)\w[^;(\n]*?\b(pt_\w+)\([^;]*?\)\s*\{/).map { |(name)| [name, file] } }.to_h
    assert_operator home.size, :>, 40
    uses = sources.to_h { |file, text| [file, text.scan(/\bpt_\w+(?=\()/).filter_map { |name| home[name] }.uniq - [file]] }
    order = []
    until uses.empty?
      lowest = uses.select { |_, used| (used - order).empty? }.keys
      flunk "these C files call each other in a circle: #{uses.keys.sort.join(", ")}" if lowest.empty?
      order.concat(lowest)
      uses = uses.except(*lowest)
    end
    %w[ledger.c request.c gvl_clock.c].each_cons(2) { |lower, upper| assert_operator order.index(lower), :<, order.index(upper) }
  end
end
