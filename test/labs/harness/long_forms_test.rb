# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "tmpdir"

# All long forms one after the other, with two tiny labs.
class LabLongFormsTest < TunerTest
  include CommandLine

  PROJECT = File.expand_path("../../..", __dir__)
  SCRIPT = 'require "puma_tuner"; exit(PumaTuner::Lab::LongForms.new(ARGV.drop(1), folder: ARGV.first).call)'

  def setup
    @folder = Dir.mktmpdir
    @labs = File.join(@folder, "labs")
    %w[01-tiny:tiny:TinyLab 02-other:other:OtherLab].each do |words|
      folder, name, class_name = words.split(":")
      FileUtils.mkdir_p(@labs)
      FileUtils.cp_r("#{PROJECT}/test/fixtures/labs/01-tiny", "#{@labs}/#{folder}")
      File.write("#{@labs}/#{folder}/lab.rb", File.read("#{@labs}/#{folder}/lab.rb").sub("TinyLab", class_name).sub('"tiny"', name.inspect))
      File.write("#{@labs}/#{folder}/README.md", "# #{name}\n<!-- finding: #{name} --><!-- /finding: #{name} -->\n")
    end
  end

  def teardown = FileUtils.rm_rf(@folder)

  def start(*names, **environment)
    log = File.join(@folder, "log")
    pid = spawn({"PUMA_TUNER_LABS" => @labs, "TINY_GEMS" => "none", **environment.transform_keys(&:to_s)}, RbConfig.ruby, "-I#{PROJECT}/lib", "-I#{PROJECT}/probe/lib", "-e", SCRIPT,
      File.join(@folder, "out"), *names, out: log, err: %i[child out])
    [pid, log]
  end

  # @return [Array(Integer, String)] exit status, what was said
  def run_forms(...)
    pid, log = start(...)
    _, status = Process.wait2(pid)
    [status.exitstatus, File.read(log)]
  end

  def kept = Dir["#{@labs}/*/findings/*.json"].map { |path| File.basename(path, ".json") }.sort

  test "all of them fit into a working day, each within two hours" do
    seconds = PumaTuner::Lab.all.to_h { |lab| [lab.name, lab.expected_s(quick: false)] }
    assert_operator seconds.values.sum, :<=, 8 * 3_600
    assert_operator seconds.values.max, :<=, 2 * 3_600
  end

  test "each lab is run and kept, those that are named only, and what is kept is not run again" do
    status, said = run_forms("other")
    assert_equal [0, %w[other]], [status, kept], said
    status, said = run_forms
    assert_equal [0, %w[other tiny]], [status, kept], said
    assert_match(/^\d\d:\d\d tiny: about 2 min, of about 2 min that are left$/, said)
    refute_match(/ other: /, said)
    assert_match(/\| twice ten \| 20 expected \| – \| 20 \| exact \|/, File.read("#{@labs}/01-tiny/README.md"))
    assert_equal [0, ""], run_forms
  end

  test "a signal ends it with what was measured, and the same call goes on there" do
    pid, log = start(TINY_SLEEP: "60")
    wait_until("a child runs", limit_s: 30) { processes_in("#{@labs}/01-tiny").any? }
    Process.kill(:INT, pid)
    _, status = Process.wait2(pid)
    assert_equal 130, status.exitstatus, File.read(log)
    assert_empty processes_in("#{@labs}/01-tiny")
    assert_empty kept
    assert Dir.exist?("#{@folder}/out/tiny.json.parts")
    status, said = run_forms
    assert_equal [0, %w[other tiny]], [status, kept], said
    refute_match(/tiny.*measured once/, said[/.* other: /m])
  end

  test "a lab that fails is tried once more, and ends none of the others" do
    File.write("#{@labs}/01-tiny/answer.rb", "exit 1")
    status, said = run_forms
    assert_equal [3, %w[other]], [status, kept], said
    assert_equal 2, said.scan(/^\d\d:\d\d tiny: /).size
    assert_match(/^tiny has failed, see above; the same command tries again$/, said)
  end
end
