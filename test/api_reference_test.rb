# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../rakelib/api_reference"

# What `rake docs:check` finds fault with, and what `rake docs:api_list` writes.
class ApiReferenceTest < TunerTest
  # @param code [String] the inside of a module Shop, which is public as a whole
  # @return [ApiReference] of that code alone
  def reference(code, names: %w[Shop Shop::Price])
    Dir.mktmpdir do |folder|
      File.write("#{folder}/shop.rb", "# A shop.\nmodule Shop\n#{code}\nend\n")
      YARD::Registry.clear
      ApiReference.new(["#{folder}/shop.rb"], names: names & ["Shop", *("Shop::Price" if code.include?("Price"))])
    end
  end

  # @return [Array<String>] without their places
  def faults(...) = reference(...).faults.map { |text| text.sub(/ \(.*|in file.*/, "").strip }

  test "a public method without a comment is a fault" do
    assert_equal ["Shop.open has no comment"], faults("def self.open = nil")
  end

  test "a class without a comment is a fault, whoever may use it" do
    assert_equal ["Shop::Door has no comment"], faults("class Door; def knock = nil; end")
  end

  test "a parameter that is not described, or has another name, is a fault" do
    code = <<~RUBY
      # Sells.
      # @param amount [Integer]
      # @return [void]
      def self.sell(count) = nil
    RUBY
    assert_equal ["@param tag has unknown parameter name: amount", "Shop.sell has no @param count"], faults(code)
  end

  test "a result that is not described, or has no type, is a fault" do
    assert_equal ["Shop.close has no @return"], faults("# Closes.\ndef self.close = nil")
    assert_equal ["Shop.close: @return  has no type"], faults("# @return what was closed\ndef self.close = nil")
  end

  test "what is private, or marked so, needs no comment" do
    assert_empty faults("def self.open = nil\nprivate_class_method :open")
    assert_empty faults("# @api private\ndef self.open = nil")
  end

  test "a name of the list that is nowhere is a fault" do
    assert_includes ApiReference.new([], names: ["Shop::Roof"]).faults, "Shop::Roof is in the list of the public API, and nowhere else"
  end

  test "a document's fields are described by the comment above it" do
    reference("# A price.\n#\n# net_cents: without tax; gross_cents, paid_cents: with it\nPrice = Document.define(:net_cents, :gross_cents, :paid_cents) do\n  # @return [Integer]\n  def tax_cents = 1\nend")
    texts = %w[net_cents gross_cents paid_cents].to_h { |name| [name, YARD::Registry.at("Shop::Price##{name}").docstring.to_s] }
    assert_equal({"net_cents" => "without tax", "gross_cents" => "with it", "paid_cents" => "with it"}, texts)
    assert_equal :method, YARD::Registry.at("Shop::Price#tax_cents").type
  end

  test "what a public document holds is public, too" do
    documents = (PublicApi::NAMES - ["PumaTuner::Railtie"]).grep_v(/\.\w+\z/).map { |name| Object.const_get(name) }.select { |one| one.is_a?(Class) && one.const_defined?(:NESTED) }
    assert_operator documents.size, :>, 60
    held = documents.flat_map { |document| document::NESTED.values.flat_map { |value| value.is_a?(Hash) ? value.values : value } }
    assert_empty held.grep(Class).uniq.map(&:name) - PublicApi::NAMES
  end

  test "every name of the list is there once" do
    assert_equal PublicApi::NAMES.uniq, PublicApi::NAMES
  end
end
