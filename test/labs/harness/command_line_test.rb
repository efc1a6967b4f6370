# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/command_line"
require "tmpdir"

# `puma_tuner lab`: what there is, what is missing, one lab from question to finding.
class LabCommandTest < TunerTest
  include CommandLine

  Lab = PumaTuner::Lab # which is loaded with it, and knows how a finding is read

  TINY = {"PUMA_TUNER_LABS" => File.expand_path("../../fixtures/labs", __dir__)}.freeze

  def in_folder(&) = Dir.mktmpdir(&)

  def lab(*words, folder: Dir.pwd, environment: TINY) = puma_tuner("lab", *words, folder:, environment:)

  test "list tells each lab, its needs, its times, and whether its gems are there" do
    result = lab("list", environment: {})
    assert_equal 0, result.code, result.err
    assert_match(/^  falsy_cache +A lock on every cached nil/, result.out)
    assert_match(/^  introspection .*Ruby 3\.3\.8 and 3\.4\.5 +\d+ s +\d+ min +(installed|for quick|not yet)$/, result.out)
    assert_match(/tiny .*1 gem, .* 1 s +2 min +for quick$/, lab("list").out)
  end

  test "the commands have their help" do
    {"list" => /List the labs/, "setup" => /Install the gems/, "run" => /--quick/}.each do |verb, pattern|
      result = lab(verb, "--help")
      assert_equal 0, result.code
      assert_match pattern, result.out
    end
  end

  test "a lab runs, and writes its finding in every form asked for" do
    in_folder do |folder|
      result = lab("run", "tiny", "--quick", "--seed", "7", "--html", "finding.html", "--markdown", "finding.md", folder:)
      assert_equal 0, result.code, result.err
      assert_match(/asking a child/, result.err)
      assert_match(/twice ten\n +published +20 expected\n +here +20: exact/, result.out)
      finding = PumaTuner::Document.read(File.join(folder, "tmp/puma_tuner/finding.json"), :finding)
      assert_equal ["tiny", true, ["Seed 7."]], [finding.lab, finding.quick, finding.conclusions]
      assert_match(/lab run tiny --quick --seed 7/, finding.command)
      assert_match(/<!DOCTYPE html>/i, File.read(File.join(folder, "finding.html")))
      assert_match(/\A### PumaTuner lab tiny/, File.read(File.join(folder, "finding.md")))
      assert_equal 0, puma_tuner("report", "tmp/puma_tuner/finding.json", folder:).code
    end
  end

  test "mistakes say what to do" do
    in_folder do |folder|
      assert_mistake(/there is no lab nothing; the labs are tiny/, lab("run", "nothing", folder:))
      assert_mistake(/no_such_gem_at_all 1\.2\.3 \(for Ruby .*Run: puma_tuner lab setup tiny$/, lab("run", "tiny", folder:))
      assert_mistake(/name the labs.*--all/, lab("setup", folder:))
      assert_mistake(/there is no lab nothing/, lab("setup", "nothing", folder:))
      assert_mistake(/cannot write/, lab("run", "tiny", "--quick", "--html", "/nowhere/at/all.html", folder:))
      assert_mistake(/--seed many/, lab("run", "tiny", "--quick", "--seed", "many", folder:))
      assert_mistake(/no labs in .*PUMA_TUNER_LABS/, lab("list", environment: {"PUMA_TUNER_LABS" => folder}))
      assert_mistake(/lab (list|run|setup)/, lab)
      assert_empty Dir.children(folder)
    end
  end

  test "setting up what needs nothing does nothing" do
    result = lab("setup", "--all", "--quick")
    assert_equal 0, result.code, result.err
    assert_match(/0 gems of tiny/, result.out)
  end

  test "repositories are fetched beside each other, and what can't be had is told with its cause" do
    begun = Queue.new
    kind = Class.new(Lab::Source) do
      define_method(:fetch) do |**|
        begun << name
        100.times { sleep(0.05) if begun.size < 2 }
        "#{name} of #{begun.size}"
      end
    end
    sources = %w[one two].map { |name| kind.new(name:, address: "https://example.test/#{name}", commits: [], needed_for: "its figure") }
    lab = Object.new
    {name: "both", gems: [], sources:}.each { |name, value| lab.define_singleton_method(name) { |**| value } }
    out = StringIO.new
    Lab::CommandLine::SetUp.new(out:, err: StringIO.new).send(:install, [lab], quick: true, say: ->(_) {})
    lacking = "Without it there is no figure of: its figure."
    told = %w[one two].map { |name| "https://example.test/#{name} can't be had (#{name} of 2). #{lacking}" }
    assert_equal told, out.string.lines(chomp: true).last(2)
  end

  test "a long form that is interrupted goes on, by --resume only, where it ended" do
    in_folder do |folder|
      log, words = File.join(folder, "err.log"), %w[lab run tiny]
      environment = {**TINY, "TINY_GEMS" => "none"}
      assert_mistake(/there is nothing to resume, as .*finding.json.parts does not exist/, lab("run", "tiny", "--resume", folder:, environment:))
      assert_mistake(/--quick saves no rounds to resume/, lab("run", "tiny", "--resume", "--quick", folder:, environment:))
      interrupted({**environment, "TINY_SLEEP" => "60"}, words, folder, log)
      assert_match(/what was measured is kept; continue with: puma_tuner lab run tiny --resume/, File.read(log))
      assert_mistake(/finding.json.parts holds an interrupted run: continue it with --resume/, lab("run", "tiny", folder:, environment:))
      result = lab("run", "tiny", "--resume", folder:, environment:)
      assert_equal 0, result.code, result.err
      refute_match(/measured once/, result.err)
      assert_equal "puma_tuner lab run tiny", PumaTuner::Document.read(File.join(folder, "tmp/puma_tuner/finding.json"), :finding).command
      assert_equal %w[err.log tmp], Dir.children(folder).sort
    end
  end

  test "Ctrl-C ends a lab with 130, and leaves nothing running" do
    in_folder do |folder|
      log = File.join(folder, "err.log")
      interrupted({**TINY, "TINY_SLEEP" => "60"}, %w[lab run tiny --quick], folder, log)
      assert_match(/interrupted; everything it started is stopped/, File.read(log))
      assert_equal %w[err.log], Dir.children(folder)
    end
  end

  # Interrupts the command while its child runs, and waits for its end.
  def interrupted(environment, words, folder, log)
    pid = start_puma_tuner(*words, environment:, chdir: folder, out: File::NULL, err: [log, "w"])
    lab_folder = File.join(TINY.fetch("PUMA_TUNER_LABS"), "01-tiny")
    wait_until("the child runs", limit_s: 20) { processes_in(lab_folder).any? }
    Process.kill(:INT, pid)
    _, status = Process.wait2(pid)
    assert_equal 130, status.exitstatus
    assert_empty processes_in(lab_folder)
  end
end
