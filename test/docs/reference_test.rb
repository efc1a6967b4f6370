# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/reference"

# The pages that are made of the code are of today's.
class ReferenceTest < TunerTest
  Reference.pages.merge(Reference.schemas).each do |path, text|
    test "#{File.basename(path)} is what the code says" do
      assert_equal text, File.read(path), "run `bin/exec rake docs:reference`"
    end
  end

  test "there is a schema for each kind of document, and for none that is gone" do
    assert_equal Reference.schemas.keys.sort, Dir[File.join(Reference::FOLDER, "schemas/*")].sort
    assert_equal PumaTuner::Document::KINDS.keys.grep_v("finding").sort, Reference.schemas.keys.map { |path| File.basename(path, ".json") }.sort
  end

  test "every command and every kind of document has its heading" do
    commands, documents = Reference.pages.values
    PumaTuner::CLI::Commands::OWN.each_key { |name| assert_includes commands, "\n## puma_tuner #{name}\n" }
    PumaTuner::Document::KINDS.each_value { |name| assert_includes documents, "\n## #{name}\n" unless name.start_with?("Lab") }
  end

  test "a document tells what its fields hold, in which unit, and where the rest stands" do
    documents = Reference.pages.values.last
    assert_includes documents, "| `budget` | [Probe::Budget](#probebudget) |"
    assert_includes documents, "| `p99_ns` | nanoseconds |"
    assert_includes documents, "- locks: longest waited for first; nil when nobody watched them"
  end
end
