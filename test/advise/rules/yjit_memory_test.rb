# frozen_string_literal: true

require "test_helper"
require "support/advising"

class YjitMemoryRuleTest < TunerTest
  include Advising

  # @param mib [Array<Integer, nil>] of machine code, of each process; nil: without YJIT
  def asked(*mib, compiler_mib: 0, ruby_version: "3.4.5", command: "bundle exec puma", **settings)
    processes = mib.map { |one| process_observation.with(gauges: {"code_bytes" => one && one * Units::MIB, "compiler_bytes" => one && compiler_mib * Units::MIB}) }
    ask(Advise::Rules::YjitMemory, observation: in_force(observation(processes:).with(command:), **settings), of: workload(ruby_version:))
  end

  test "a process at 85% of its limit is told, by the fullest" do
    advice = asked(20, 110).first
    assert_equal "110 MiB of 128 MiB in the fullest of 2 processes.", advice.evidence.first
    assert_equal [{"environment" => 'RUBYOPT="--yjit-mem-size=256 --yjit-disable"'}, {"rubyopt" => "--yjit-mem-size=256 --yjit-disable"}], [advice.lines, advice.factors]
    assert_empty asked(20, 108)
  end

  test "what the compiler keeps beside the code counts from Ruby 3.4 on" do
    refute_empty asked(60, compiler_mib: 50)
    assert_empty asked(40, compiler_mib: 50, ruby_version: "3.3.8")
    assert_equal "--yjit-exec-mem-size=96 --yjit-disable", asked(45, ruby_version: "3.3.8").first.factors["rubyopt"]
  end

  test "a limit that was set is the one that counts" do
    advice = asked(30, "ruby flags": "-W0 --yjit-mem-size=32").first
    assert_equal ["--yjit-mem-size=64", 'RUBYOPT="-W0 --yjit-mem-size=64"'], [advice.factors["rubyopt"], advice.lines["environment"]]
  end

  test "YJIT goes on at boot only where it does so today" do
    line = ->(**settings) { asked(110, **settings).first.lines.fetch("environment")[/"(.*)"/, 1] }
    assert_equal "--yjit --yjit-mem-size=256", line.call("ruby flags": "--yjit")
    assert_equal "--yjit-call-threshold=5 --yjit-mem-size=256", line.call("ruby flags": "--yjit-call-threshold=5")
    assert_equal "--yjit-disable --yjit-mem-size=256", line.call("ruby flags": "--yjit-disable")
    assert_equal ["--yjit-mem-size=256"] * 4, [line.call("env RUBY_YJIT_ENABLE": "1"), *["ruby --yjit", "ruby --jit", "ruby --enable=gems,yjit"].map { |command| line.call(command: "#{command} -S puma") }]
    assert_equal ["--yjit-mem-size=256 --yjit-disable"] * 2, [line.call("env RUBY_YJIT_ENABLE": "0"), line.call(command: "ruby --disable=yjit -S puma")]
  end

  test "with the line Ruby leaves YJIT to the app where it was so, and boots with it where it was not" do
    states = lambda do |enabled|
      flags = asked(110, ruby_version: RUBY_VERSION, "env RUBY_YJIT_ENABLE": enabled).first.factors.fetch("rubyopt")
      IO.popen([{"RUBYOPT" => flags, "RUBY_YJIT_ENABLE" => enabled}, RbConfig.ruby, "--disable-gems", "-e", "p RubyVM::YJIT.enabled?, RubyVM::YJIT.enable"], &:read).split
    end
    assert_equal [%w[false true], %w[true false]], [nil, "1"].map(&states)
  end

  test "nothing is said without YJIT, of a Ruby whose limit nobody knows, and of processes that told nothing" do
    assert_empty asked(nil)
    assert_empty asked(1_000, ruby_version: "3.2.4")
    assert_empty ask(Advise::Rules::YjitMemory, observation:)
    assert_empty ask(Advise::Rules::YjitMemory)
  end
end
