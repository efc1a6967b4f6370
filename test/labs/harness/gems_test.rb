# frozen_string_literal: true

require "test_helper"
require "support/gem_repository"
require "open3"
require "tmpdir"

# Several versions of one gem side by side, from a gem server in a folder.
class LabGemsTest < TunerTest
  include PumaTuner

  time_limit 120

  SUPPORT = File.expand_path("../../../labs/support/gems", __dir__)

  # A cache and a gem server of their own, for as long as the block.
  def with_gems(gems)
    Dir.mktmpdir do |folder|
      server = File.join(folder, "server")
      Dir.mkdir(server)
      source = GemRepository.make(server, gems)
      File.write(File.join(folder, "gemrc"), ":sources:\n- #{source}\n")
      with_environment("PUMA_TUNER_CACHE" => File.join(folder, "cache"), "GEMRC" => File.join(folder, "gemrc"), "HOME" => folder) { yield folder }
    end
  end

  PAPER = {"lab_paper" => {"1.0.0" => "PAPER = 'one'", "2.0.0" => "PAPER = 'two'"}}.freeze

  def pins(*versions) = Lab::Gems.pins({"lab_paper" => versions})

  # @return [String] what the script printed in a child with these gems
  def in_child(script, factors, pins: [])
    variant = Prove::Variant.new(name: "it", factors:)
    command = Lab::Commands.new(folder: Dir.pwd, variants: [variant], pins:).call(variant)
    output, = Open3.capture2e(command.environment, *command.words, "-e", "require #{SUPPORT.inspect}; LabGems.activate; #{script}", unsetenv_others: true)
    output
  end

  test "what is not there is named, installed once, and found in exactly its version" do
    with_gems(PAPER) do |folder|
      assert_equal %w[1.0.0 2.0.0], Lab::Gems.missing(pins("1.0.0", "2.0.0")).map(&:version)
      said = []
      Lab::Gems.install(pins("1.0.0", "2.0.0"), say: ->(text) { said << text })
      assert_equal 1, said.size
      assert_includes said.first, "lab_paper 1.0.0, lab_paper 2.0.0"
      assert_empty Lab::Gems.missing(pins("1.0.0", "2.0.0"))
      Lab::Gems.install(pins("1.0.0"), say: ->(text) { said << text })
      assert_equal 1, said.size
      assert_path_exists File.join(folder, "cache/labs", RUBY_VERSION, "gems/lab_paper-1.0.0")
      script = "require 'lab_paper'; puts [PAPER, Gem.loaded_specs['lab_paper'].version].join(' ')"
      %w[1.0.0 2.0.0].zip(%w[one two]) do |version, word|
        assert_equal "#{word} #{version}\n", in_child(script, {"gem.lab_paper" => version})
      end
    end
  end

  test "what a variant leaves out can't be loaded, though it is installed" do
    with_gems(PAPER) do
      Lab::Gems.install(pins("1.0.0"))
      assert_equal "not there\n", in_child("begin; require 'lab_paper'; rescue LoadError; puts 'not there'; end", {})
      assert_match(/lab_paper 3\.0\.0 is not in .*puma_tuner lab setup/, in_child("", {"gem.lab_paper" => "3.0.0"}))
    end
  end

  test "dependencies are taken from the lab's pins, whatever else is installed" do
    with_gems(PAPER) do
      Lab::Gems.install(pins("1.0.0", "2.0.0"))
      finding = ->(pinned) { in_child("puts LabGems.specification('lab_paper', Gem::Requirement.default, of: LabGems.pairs('PUMA_TUNER_LAB_PINS')).version", {}, pins: pinned) }
      assert_equal "1.0.0\n", finding.call(pins("1.0.0"))
      assert_equal "2.0.0\n", finding.call([])
    end
  end

  test "what can't be had is told with RubyGems' own words" do
    with_gems(PAPER) do
      mistake = assert_raises(UsageError) { Lab::Gems.install(pins("9.9.9")) }
      assert_match(/lab_paper 9\.9\.9/, mistake.message)
      assert_match(/^  \| /, mistake.message)
    end
  end

  test "a Ruby that is not here is told with what provides it" do
    mistake = assert_raises(UsageError) { Lab::Gems.ruby("0.9.9") }
    assert_match(%r{Ruby 0\.9\.9 is needed.*bin/setup --ruby 0\.9\.9}, mistake.message)
  end
end
