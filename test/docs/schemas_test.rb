# frozen_string_literal: true

require "test_helper"
require "json"
require "json_schemer"
require "support/fuzz/documents"
require "support/fuzz/mutator"
require_relative "../../rakelib/reference"

# The published schemas, held against every example document that there is, and against what the reader itself takes and refuses.
class SchemasTest < TunerTest
  include PumaTuner

  KINDS = Reference::Documents.kinds.freeze
  SCHEMAS = Reference.schemas.to_h { |path, text| [File.basename(path, ".json"), JSON.parse(text)] }.freeze
  EXAMPLES = Fuzz::Documents.all.freeze

  def checker(kind) = (@checkers ||= {})[kind] ||= JSONSchemer.schema(SCHEMAS.fetch(kind))

  # @return [Array<String>] what is wrong with a document, "/machine/cores_count: value is not a number"
  def faults(document) = checker(document.fetch("kind")).validate(document).map { |one| "#{one["data_pointer"]}: #{one["error"]}" }

  def plain(value) = JSON.parse(Document.dump(value))

  test "each schema is one, by the dialect that it names" do
    SCHEMAS.each { |kind, schema| assert JSONSchemer.valid_schema?(schema), kind }
    assert_equal KINDS.keys.sort, SCHEMAS.keys.sort
    assert_equal KINDS.keys.sort, EXAMPLES.keys.sort
  end

  test "every example document of the tests is what its schema says" do
    values = [*EXAMPLES.values, TuningFixture.tuning, TuningFixture.observation, TuningFixture.cluster_observation, TuningFixture.observation_without_extension,
      TuningFixture.jobs_observation, TuningFixture.tuning_without_trust, TuningFixture.sweep_of_capacities, TuningFixture.verdict_of_the_same, ProofFixture.gems, ProofFixture.blocks,
      ProofFixture.factorial, Tradeoffs.study({"off" => [1_000, 100], "on" => [600, 130]})]
    values.each { |value| assert_empty faults(plain(value)), value.class.name }
  end

  test "every document of the fixtures and the labs is what its schema says" do
    root = File.expand_path("../..", __dir__)
    paths = Dir.glob("{test,labs,docs,benchmark}/**/*.json", base: root).grep_v(%r{/schemas/|/tmp/})
    ours = paths.select { |path| File.read("#{root}/#{path}", 100).match?(/\A\s*\{\s*"kind"/) }
    documents = ours.to_h { |path| [path, JSON.parse(File.read("#{root}/#{path}"))] }.select { |_, document| SCHEMAS.key?(document["kind"]) }
    assert_operator documents.size, :>=, 16
    documents.each { |path, document| assert_empty faults(document), path }
  end

  test "a list whose entries may be unknown, by its signature, may have null in its place" do
    value_class = nil
    lists = File.foreach(File.expand_path("../../sig/puma_tuner.rbs", __dir__)).filter_map do |line|
      value_class = $1 if line =~ /^class (\S+)/
      [value_class, $1.to_sym] if line =~ /^ +attr_reader (\w+): Array\[.*\?\]$/
    end
    assert_includes lists, ["PumaTuner::Load::Warmup", :cpu_per_request_ns]
    lists.each do |name, member|
      items = Document::Fields.type(Object.const_get(name), member).fetch("items")
      assert Document::Fields.check(items.fetch("items", items)).call(nil), "#{name}##{member}"
    end
  end

  test "a schema denies what a field can't hold, what is missing, and another kind" do
    machine = plain(EXAMPLES.fetch("machine"))
    {"cores_count" => "four", "effective_cores" => [1, "x"], "wakeup_idle_ns" => 5, "schema_version" => 2, "gvl_rule" => 1}.each do |field, value|
      assert_match(%r{/#{field}}, faults(machine.merge(field => value)).join, field)
    end
    assert_match(/tick_ns/, faults(machine.except("tick_ns")).join)
    refute_empty checker("machine").validate(machine.merge("kind" => "sweep")).to_a
    observation = plain(EXAMPLES.fetch("observation"))
    observation["endpoints"][0]["latency"]["counts"] = [[2_000_000, 1]]
    assert_match(%r{/endpoints/0/latency/counts}, faults(observation).join)
  end

  test "what the reader takes of changed documents is what the schema says, but for what older versions wrote" do
    mutator = Fuzz::Mutator.new
    taken = 0
    EXAMPLES.each do |kind, value|
      seed = Document.dump(value)
      40.times do |number|
        text = mutator.call([seed], Random.new(number), json: :whole).force_encoding(Encoding::UTF_8)
        again = Document.parse(text, "it", [kind.to_sym])
        taken += 1
        # Written once more it is of this version.
        assert_empty faults(plain(again)), "#{kind} #{number}"
      rescue InvalidDocument
        next
      end
    end
    assert_operator taken, :>, 50
  end

  # --- versions

  EXAMPLES.each do |kind, value|
    test "a #{kind} of a newer version is refused, and the reason tells which puma_tuner reads it" do
      error = assert_raises(InvalidDocument) { Document.parse(JSON.generate(plain(value).merge("schema_version" => 2, "tool_version" => "9.8.7")), "it", []) }
      assert_includes error.message, "schema version is 2, and this puma_tuner (#{VERSION}) reads 1; the one that wrote it is newer (9.8.7)"
    end

    test "a #{kind} of an older schema, or of none, is refused with the version" do
      [0, nil, "1", [1], 1.5].each do |version|
        error = assert_raises(InvalidDocument) { Document.parse(JSON.generate(plain(value).merge("schema_version" => version)), "it", []) }
        assert_includes error.message, "its schema version is #{version.inspect}, and this"
        refute_includes error.message, "newer"
      end
    end

    test "a #{kind} from before fields were added is read, and one that lacks any other is refused by its name" do
      older = without_added(plain(value), KINDS.fetch(kind))
      read = Document.parse(JSON.generate(older), "it", [kind.to_sym])
      assert_kind_of KINDS.fetch(kind), read
      refute_empty Report.render(read, format: :text)
      required = KINDS.fetch(kind).members - KINDS.fetch(kind)::ADDED - [:companions]
      required.each do |member|
        error = assert_raises(InvalidDocument, member.name) { Document.parse(JSON.generate(plain(value).except(member.name)), "it", []) }
        assert_match(/has no #{member}/, error.message)
      end
    end

    test "a #{kind} with fields that this version does not know is read without them" do
      assert_equal Document.parse(Document.dump(value), "it", []), Document.parse(JSON.generate(plain(value).merge("of_tomorrow" => {"a" => 1})), "it", [])
    end
  end

  # @param fields [Hash]
  # @param value_class [Class]
  # @return [Hash] without what older files lack, however deep
  def without_added(fields, value_class)
    return fields unless fields.is_a?(Hash) && value_class.const_defined?(:NESTED)
    fields.except(*value_class::ADDED.map(&:name)).to_h do |name, field|
      case nested = value_class::NESTED[name.to_sym]
      when nil then [name, field]
      when Array then [name, field.map { |one| without_added(one, nested.first) }]
      when Hash then [name, field&.transform_values { |one| without_added(one, nested.fetch(String)) }]
      else [name, without_added(field, nested)]
      end
    end
  end
end
