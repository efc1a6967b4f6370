# frozen_string_literal: true

require "test_helper"

class PlainMarshalTest < TunerTest
  PlainMarshal = PumaTuner::Profile::PlainMarshal

  def round_trip(value) = PlainMarshal.load(Marshal.dump(value))

  test "reads plain values as Marshal does" do
    [nil, true, false, 0, 1, -1, 122, 123, -123, -124, 255, 256, -255, -256, -257, 65_535, 65_536, -65_536, 2**30 - 1, 2**30, -2**30, -2**30 - 1, 2**31, 2**62, -2**62, 2**64 - 1, 2**100, -2**100,
      0.0, 1.5, -2.25, 1e300, 1.2, Float::INFINITY, -Float::INFINITY, "", "abc", "häus", "\xff".b, "x".encode("UTF-16LE"), "ascii".encode("US-ASCII"), :sym, :häus,
      [], [1, [2, [3]]], {}, {:a => 1, "b" => [nil, 2.5]}, {[1, 2] => {3 => :a}}].each do |value|
      found = round_trip(value)
      value.nil? ? assert_nil(found) : assert_equal(value, found, value.inspect)
      assert_equal value.encoding, found.encoding if value.is_a?(String)
    end
    assert_predicate round_trip(Float::NAN), :nan?
  end

  test "follows links to what stood before" do
    text = +"shared"
    list = [text, 1.5, 2**70, {text => text}]
    number = 2**40
    assert_equal [list, list, text, [:a, :b, :a], 1.5, number, number], round_trip([list, list, text, [:a, :b, :a], 1.5, number, number])
  end

  test "reads whatever chance makes" do
    random = Random.new(7)
    make = lambda do |depth|
      case random.rand((depth > 4) ? 6 : 8)
      when 0 then random.rand(-2**34..2**34)
      when 1 then random.rand(-300..300)
      when 2 then random.rand
      when 3 then random.bytes(random.rand(20))
      when 4 then [nil, true, false].sample(random:)
      when 5 then :"s#{random.rand(9)}"
      when 6 then Array.new(random.rand(6)) { make.call(depth + 1) }
      else Array.new(random.rand(6)) { [random.rand(99), make.call(depth + 1)] }.to_h
      end
    end
    300.times do
      value = make.call(0)
      found = round_trip(value)
      value.nil? ? assert_nil(found) : assert_equal(value, found)
    end
  end

  test "refuses every file that is cut short" do
    whole = Marshal.dump({a: [1, "text", 2.5, 2**70, :symbol, -70_000], b: nil})
    (0...whole.bytesize).each { |size| assert_raises(PlainMarshal::Refused) { PlainMarshal.load(whole.byteslice(0, size)) } }
  end

  test "refuses objects, and never makes one" do
    [Object.new, 1..2, String, Comparable, /a/, 1r, Struct.new(:a).then { |made| self.class.const_set(:Made, made).new(1) }, Class.new(Array).then { |made| self.class.const_set(:Own, made).new },
      Hash.new(3), {}.compare_by_identity, [Time.now]].each do |value|
      error = assert_raises(PlainMarshal::Refused, value.inspect) { round_trip(value) }
      assert_match(/it holds a value of kind/, error.message)
    end
  end

  test "refuses what would not end, or refers to nothing" do
    deep = "\x04\x08" + "[\x06" * 100_000 + "0"
    assert_match(/nested deeper/, assert_raises(PlainMarshal::Refused) { PlainMarshal.load(deep) }.message)
    ["\x04\x08@\x0a", "\x04\x08;\x0a", "\x04\x08[\x04\xff\xff\xff\x7f", "\x04\x08\"\x04\xff\xff\xff\x7f", "\x04\x08\"\xfa", "\x04\x08f\x08abc", "\x04\x09i\x00",
      "\x04\x08I\"\x06a\x06:\x0dencoding\"\x08XYZ", "\x04\x08I\"\x06a\x06:\x06xi\x06"].each do |bytes|
      assert_raises(PlainMarshal::Refused, bytes.inspect) { PlainMarshal.load(bytes.b) }
    end
  end
end
