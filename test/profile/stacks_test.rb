# frozen_string_literal: true

require "test_helper"
require "support/profiles"

class ProfileStacksTest < TunerTest
  include Profiles

  def relevant(path, own: {}) = Profile::Stacks.relevant(stack(path, 1, own:).frames)&.map(&:name)

  test "a request's stack begins where Puma begins to serve it" do
    assert_equal %w[Puma::Request#handle_request App#call], relevant("Puma::ThreadPool#spawn > Puma::Server#process_client > Puma::Request#handle_request > App#call")
  end

  test "our own hook around a request is not its beginning" do
    ours = "#{Profile::Stacks::OURS}/puma_tuner/measure/puma_hooks.rb"
    names = relevant("Puma::Server#run > Puma::Request#handle_request > Hook#handle_request > App#call", own: {"Hook#handle_request" => ours})
    assert_equal %w[Puma::Request#handle_request Hook#handle_request App#call], names
  end

  test "a thread that waits for work does not count, and one that works does" do
    assert_nil relevant("Puma::ThreadPool#spawn > Thread::ConditionVariable#wait")
    assert_nil relevant("Puma::Reactor#select_loop > NIO::Selector#select")
    assert_equal %w[Puma::Reactor#select_loop Puma::Client#try_to_finish], relevant("Puma::Reactor#select_loop > Puma::Client#try_to_finish")
  end

  test "waiting inside of a request is the request's" do
    assert_equal %w[Puma::Request#handle_request Kernel#sleep], relevant("Puma::Request#handle_request > Kernel#sleep")
  end

  test "frames that repeat a block do not count" do
    ours = "#{Profile::Stacks::OURS}/puma_tuner/block/repetition.rb"
    assert_equal ["Work#go"], relevant("Child#profile > PumaTuner::Block::Repetition#call_often > Work#go", own: {"PumaTuner::Block::Repetition#call_often" => ours})
  end

  test "our own code does not count" do
    assert_nil relevant("Main > PumaTuner::Probe::SignalQueries.answer", own: {"PumaTuner::Probe::SignalQueries.answer" => "#{Profile::Stacks::OURS}/puma_tuner/host/meter.rb"})
  end

  test "a stack of nothing does not count" do
    assert_nil Profile::Stacks.relevant([])
  end
end
