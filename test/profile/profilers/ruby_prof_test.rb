# frozen_string_literal: true

require "test_helper"
require "support/profiled_script"

class RubyProfProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("ruby-prof")

  def call(samples, name) = samples.calls.find { |call| call.frame.name == name } || flunk("#{name} is not among #{samples.calls.map { |call| call.frame.name }}")

  test "counts every call, and who called" do
    body = "Work.outer(1_000); Thread.new { Work.outer(234) }.join; 5.times { Work.inner }; puts Process.pid"
    profiled("ruby-prof", body) do |ran|
      samples = ran.samples
      assert_equal ["ruby-prof", "2.0.5", "wall", "ns", ran.out.to_i], [samples.profiler, samples.profiler_version, samples.mode, samples.unit, samples.pid]
      inner = call(samples, "Work.inner")
      assert_equal 1_239, inner.calls_count
      assert_equal({"Integer#times" => 1_239}, inner.callers.transform_keys(&:name))
      assert_equal [2, [ran.script, line_of(ran.script, "def inner")]], [call(samples, "Work.outer").calls_count, [inner.frame.path, inner.frame.line]]
      assert_equal inner.calls_count, inner.callers.values.sum
    end
  end

  test "times methods by themselves and with what they call" do
    profiled("ruby-prof", "Work.long; Work.rest(0.3)") do |ran|
      samples = ran.samples
      long, rest = %w[Work.long Work.rest].map { |name| call(samples, name) }
      assert_operator long.total_amount, :>, 590_000_000
      assert_operator long.self_amount, :<, long.total_amount / 10
      assert_operator call(samples, "Kernel#sleep").self_amount, :>, 290_000_000
      assert_operator rest.total_amount, :>, 290_000_000
      assert_equal samples.calls.sum(&:self_amount), samples.stacks.sum(&:amount)
      assert_in_epsilon long.total_amount, amount(samples, "Work.long"), 0.03
    end
  end

  test "shares out CPU time over methods, and no rest" do
    profiled("ruby-prof", "Work.long; Work.short; Work.rest(0.3)", mode: "cpu") do |ran|
      assert_in_delta 3, call(ran.samples, "Work.long").total_amount.fdiv(call(ran.samples, "Work.short").total_amount), 0.4
      assert_operator call(ran.samples, "Kernel#sleep").total_amount, :<, call(ran.samples, "Work.short").total_amount / 2
    end
  end

  test "counts the objects made in methods" do
    profiled("ruby-prof", "Work.things(2_000)", before: "Work.things(1)", mode: "allocations") do |ran|
      assert_equal "objects", ran.samples.unit
      assert_in_delta 2_001, call(ran.samples, "Work.things").total_amount, 3
    end
  end

  test "counts time inside of itself once" do
    before = "def Work.deep(n) = n.zero? ? burn(0.2) : deep(n - 1)"
    profiled("ruby-prof", "Work.deep(5)", before:) do |ran|
      deep = call(ran.samples, "Work.deep")
      assert_equal [6, 5], [deep.calls_count, deep.callers.to_a.find { |frame, _| frame.name == "Work.deep" }.last]
      assert_in_epsilon call(ran.samples, "Work.burn").total_amount, deep.total_amount, 0.1
    end
  end

  test "knows the thread, and who a method belongs to" do
    body = "stop = Queue.new; thread = Thread.new { Work.short; stop.pop }; sleep 0.02 until stop.num_waiting == 1; Own.new.run; puts thread.native_thread_id"
    before = "class Own; def run = yielding { Work.inner }; def yielding = yield; end"
    profiled("ruby-prof", body, before:) do |ran|
      assert_equal [ran.out.to_i], stacks(ran.samples, "Work.short").map(&:thread).uniq
      assert_equal({"Own#yielding" => 1}, call(ran.samples, "Work.inner").callers.transform_keys(&:name))
      assert_equal({"Own#run" => 1}, call(ran.samples, "Own#yielding").callers.transform_keys(&:name))
    end
  end

  test "leaves what its own printers make beside the file" do
    profiled("ruby-prof", "Work.short") do |ran|
      assert_match(/Work>#short/, File.read("#{ran.path}.flat.txt"))
      assert_match(/<html.*Work/m, File.read("#{ran.path}.callstack.html"))
    end
  end

  test "refuses files that are cut short, of another kind, mode or version" do
    profiled("ruby-prof", "Work.inner") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("ruby-prof", whole)
      assert_match(/mode wall, wanted is cpu/, refusal("ruby-prof", whole, mode: "cpu"))
      assert_match(/our format 2 for ruby-prof, and known here is 1/, refusal("ruby-prof", with(whole, "format" => 2)))
      assert_match(/ruby-prof 3\.0\.5, and known here is ~> 2\.0/, refusal("ruby-prof", with(whole, "profiler_version" => "3.0.5")))
      assert_match(/not what ruby-prof ~> 2\.0 writes/, refusal("ruby-prof", with(whole, "methods" => nil)))
    end
  end
end
