# frozen_string_literal: true

require "test_helper"
require_relative "../prove/block_trials"

class BlockFileTest < TunerTest
  include BlockTrials

  def names(text, **) = PumaTuner::Block::UserFile.names(write(text), command, **)

  def complaint(...) = mistake { names(...) }

  test "gives the names in the file's order, and runs no block" do
    assert_equal ["parse", "generate"], names(<<~RUBY)
      block("parse") { raise "run" }
      block(:generate) { |count| raise "run" }
    RUBY
  end

  test "an only block needs no name" do
    assert_equal ["block"], names("block { 1 }")
  end

  test "the file is run as Ruby would run it" do
    write("VALUE = 3", name: "beside.rb")
    assert_equal ["3 true [] bench.rb"], names(<<~RUBY)
      require_relative "beside"
      block("\#{VALUE} \#{$0 == __FILE__} \#{ARGV} \#{File.basename(__FILE__)}") { 1 }
    RUBY
  end

  test "block is known at the top level, and nowhere else" do
    assert_equal ["false"], names("block(Object.new.respond_to?(:block, true).to_s) { 1 }")
  end

  test "the file's own output is discarded" do
    assert_equal ["quiet"], names('puts "x" * 100_000; warn "y" * 100_000; block("quiet") { 1 }')
  end

  test "a file that is not there" do
    assert_match(/there is no nowhere\.rb/, mistake { PumaTuner::Block::UserFile.names("nowhere.rb", command) })
  end

  test "a file without a block is told how to write one" do
    assert_match(/bench\.rb: there is no block in it; write: block/, complaint("1 + 1"))
  end

  test "a syntax error is told with its line" do
    assert_match(/bench\.rb:2/, complaint("a = 1\nb = (\n"))
  end

  test "two blocks of one name are told with their lines" do
    text = complaint("block(\"x\") { 1 }\n\nblock(\"x\") { 2 }\n")
    assert_match(/two blocks are called "x", in lines 1 and 3/, text)
    assert_match(/two blocks are called "block", in lines 1 and 2/, complaint("block { 1 }\nblock { 2 }"))
  end

  test "a block with nothing in it is told with its line" do
    assert_match(/block\("x"\) has nothing to run.*bench\.rb:2/, complaint("\nblock(\"x\")"))
  end

  test "what the file raises is told with its class, message and line" do
    assert_match(/KeyError: key not found: "NOWHERE" \(.*bench\.rb:2\)/, complaint("\nENV.fetch(\"NOWHERE\")\nblock { 1 }"))
  end

  test "a library that is not there" do
    assert_match(/LoadError: cannot load such file -- no_such_library \(.*bench\.rb:1\)/, complaint('require "no_such_library"'))
  end

  test "a file that ends the process" do
    assert_match(/it called exit, with status 4 \(.*bench\.rb:1\)/, complaint("exit 4"))
    assert_match(/ended by itself, with status 5, before it had loaded the file.*gone/m, complaint('$stderr.puts "gone"; exit! 5'))
  end

  test "a file that takes too long" do
    assert_match(/loading the file took longer than 1 s/, complaint("sleep", boot_limit_s: 1))
  end

  test "names the file as the user did" do
    write("raise \"no\"")
    Dir.chdir(folder) { assert_match(/\Abench\.rb: RuntimeError: no \(bench\.rb:1\)\z/, mistake { PumaTuner::Block::UserFile.names("bench.rb", command) }) }
  end

  test "a command that is not there, or refuses" do
    write("block { 1 }")
    path = File.join(folder, "bench.rb")
    assert_match(/could not be started/, mistake { PumaTuner::Block::UserFile.names(path, command("/nowhere/ruby")) })
    assert_match(/invalid option --no-such-flag/, mistake { PumaTuner::Block::UserFile.names(path, command(RbConfig.ruby, "--no-such-flag")) })
  end
end
