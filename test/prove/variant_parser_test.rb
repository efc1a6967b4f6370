# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class VariantParserTest < TunerTest
  VariantParser = PumaTuner::Prove::VariantParser

  def shown(variants) = variants.to_h { |variant| [variant.name, variant.factors] }

  test "a variant is a name and what it differs in" do
    assert_equal({"old" => {"gem.json" => "2.7.2"}, "new" => {"gem.json" => "2.8.1", "env.A" => "1"}},
      shown(VariantParser.parse(["old:gem.json=2.7.2", "new:gem.json=2.8.1,env.A=1"])))
  end

  test "one that differs in nothing is the app as it is" do
    assert_equal({"today" => {}}, shown(VariantParser.parse(["today:"])))
  end

  test "a comma or an equals sign may be part of a value" do
    assert_equal({"a" => {"env.LIST" => "1,2=3", "rubyopt" => "--yjit-mem-size=64"}}, shown(VariantParser.parse(["a:env.LIST=1,2=3,rubyopt=--yjit-mem-size=64"])))
  end

  test "several values make a variant of each" do
    assert_equal ["a threads=3", "a threads=5"], VariantParser.parse(["a:threads=3|5,yjit=on"]).map(&:name)
  end

  test "a factorial design has every combination, the first values first" do
    variants = VariantParser.factorial(["yjit=off,on", "threads=3,5"])
    assert_equal ["yjit=off threads=3", "yjit=off threads=5", "yjit=on threads=3", "yjit=on threads=5"], variants.map(&:name)
    assert_equal({"yjit" => "off", "threads" => "3"}, variants.first.factors)
  end

  test "more variants than anybody can measure are refused before they are made" do
    many = Array.new(12) { |place| "env.A#{place}=#{Array.new(10, &:itself).join(",")}" }
    [-> { VariantParser.factorial(many) }, -> { VariantParser.parse(["a:#{many.join(",").gsub(/(\d),(\d)/, '\1|\2').gsub(/(\d),(\d)/, '\1|\2')}"]) }].each do |made|
      assert_match(/these are 1000000000000 variants, and 1000 are the most/, assert_raises(PumaTuner::UsageError) { made.call }.message)
    end
  end

  test "values that may be secret are in no variant's name: it is called by their place" do
    variants = VariantParser.factorial(["env.DATABASE_URL=postgres://u:one@h/a,postgres://u:two@h/a", "env.SLEEP_MS=1,2"])
    assert_equal ["env.DATABASE_URL=value 1 env.SLEEP_MS=1", "env.DATABASE_URL=value 2 env.SLEEP_MS=2"], variants.map(&:name).values_at(0, -1)
    assert_equal "postgres://u:two@h/a", variants.last.factors.fetch("env.DATABASE_URL")
    assert_equal ["a env.API_KEY=value 1", "a env.API_KEY=value 2"], VariantParser.parse(["a:env.API_KEY=one|two,yjit=on"]).map(&:name)
  end

  test "a Ruby file declares the same" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "variants.rb")
      File.write(path, <<~RUBY)
        variant "old", gem: {json: "2.7.2"}, threads: 3
        variant "new", gem: {json: "2.8.1"}, env: {A: 1}
        factorial yjit: %w[on off], puma: {queue_requests: [true, false]}
      RUBY
      variants = shown(VariantParser.read(path))
      assert_equal({"gem.json" => "2.7.2", "threads" => "3"}, variants.fetch("old"))
      assert_equal({"gem.json" => "2.8.1", "env.A" => "1"}, variants.fetch("new"))
      assert_equal({"yjit" => "off", "puma.queue_requests" => "true"}, variants.fetch("yjit=off puma.queue_requests=true"))
      assert_equal 6, variants.size
    end
  end

  MISTAKES = {
    ["a:thread=3"] => /"thread" is not a factor.*topology/m,
    ["a:yjit=maybe"] => /yjit=maybe: write on or off/,
    ["a:affinity=2"] => /affinity=2: write on, core or off/,
    ["a:threads=many"] => /threads=many/,
    ["a:topology=2"] => /2/,
    ["no colon"] => /write name:key=value/,
    ["a:yjit=on", "a:yjit=off"] => /two variants are called "a"/,
    ["a:yjit"] => /write key=value/,
    ["a:ruby="] => /ruby= needs a value/
  }.freeze

  MISTAKES.each do |texts, message|
    test "#{texts.join(" and ")} is a mistake" do
      assert_match message, assert_raises(PumaTuner::UsageError) { VariantParser.parse(texts) }.message
    end
  end

  test "a file that can't be understood says where" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "variants.rb")
      File.write(path, "variant 'a', yjit: 'on'\nvarian 'b'\n")
      assert_match(/varian/, assert_raises(PumaTuner::UsageError) { VariantParser.read(path) }.message)
      File.write(path, "# nothing")
      assert_match(/declares no variant/, assert_raises(PumaTuner::UsageError) { VariantParser.read(path) }.message)
      assert_match(/cannot read/, assert_raises(PumaTuner::UsageError) { VariantParser.read("#{path}x") }.message)
    end
  end
end
