# frozen_string_literal: true

require "test_helper"

class AllowedSkipsTest < TunerTest
  # @return [Minitest::Result] of a test that does the block, in a class of that name
  def result(name = "AnyTest", &block)
    test_class = Class.new(TunerTest) { test("does it", &block) }
    test_class.define_singleton_method(:to_s) { name }
    Minitest::Result.from(test_class.new("test_does_it").tap(&:run))
  ensure
    Minitest::Runnable.runnables.delete(test_class)
  end

  test "a skip that is not listed is a failure, which names it" do
    found = result { skip "no thing here" }
    refute_predicate found, :skipped?
    assert_equal "F", found.result_code
    assert_match(/skipped, which .*allowed_skips\.rb does not list: no thing here/, found.failure.message)
    assert_match(/allowed_skips_test\.rb:\d+/, found.failure.location)
  end

  test "a listed skip is one, of its own test class only" do
    assert_equal "S", result("FleetPrometheusTest") { skip "this machine has no IPv6" }.result_code
    assert_equal "F", result("OtherTest") { skip "this machine has no IPv6" }.result_code
  end

  test "failures, errors and passes are what they are" do
    codes = [proc { flunk "no" }, proc { raise "no" }, proc { assert true }, proc {}].map { |block| result(&block).result_code }
    assert_equal %w[F E . F], codes
  end

  test "each test that mounts something for itself may be left out where the kernel lets no user do so" do
    texts = Dir[File.join(__dir__, "{.,../probe/test}/**/*_test.rb")].map { |path| File.read(path) }.grep(/^  include Namespace$/)
    names = texts.flat_map { |text| text.scan(/^class (\w+) < TunerTest/) }.flatten
    assert_operator names.size, :>=, 5
    skip = Minitest::Skip.new("this kernel gives no namespaces to users")
    names.each { |name| assert_same skip, AllowedSkips.judge(name, skip), name }
  end

  test "every listed skip has a reason, and a test class that there is" do
    classes = Dir[File.join(__dir__, "{.,../probe/test}/**/*_test.rb")].flat_map { |path| File.read(path).scan(/^class (\w+) < TunerTest/) }.flatten
    AllowedSkips::REASONS.each do |pattern, reason|
      assert_operator reason.length, :>, 20
      refute_empty classes.grep(/\A#{pattern.source[/\\A([\w\\+()|]+): /, 1]}\z/), pattern.source
    end
  end
end
