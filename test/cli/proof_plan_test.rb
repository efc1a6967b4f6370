# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# What `prove` compares and starts, by its words.
class ProofPlanTest < TunerTest
  include PumaTuner

  # @yieldparam folder [String] that it is given in, with an app in the folder `shop`
  def in_folder
    Dir.mktmpdir do |folder|
      Dir.mkdir(File.join(folder, "shop"))
      %w[config.ru a.rb b.rb].each { |name| File.write(File.join(folder, "shop", name), "") }
      Dir.chdir(folder) { yield File.realpath(folder) }
    end
  end

  def plan(*words)
    options = CLI::Commands::Prove.parse(words)
    CLI::ProofPlan.new(options.except(:verbose, :output, :html, :markdown, :false_alarms, :resume), folder: "checkouts", say: ->(_) {})
  end

  test "several Puma configurations are variants of the app in the folder that is named" do
    in_folder do |folder|
      setup = plan("--directory", "shop", "shop/a.rb", "shop/b.rb").setup
      assert_equal %w[a.rb b.rb].map { |name| {"config" => File.join(folder, "shop", name)} }, setup.variants.map(&:factors)
      assert_equal [{"config" => "~/a.rb"}, {"config" => File.join(folder, "shop/b.rb")}], plan("--directory", "shop", "~/a.rb", "shop/b.rb").setup.variants.map(&:factors), "of the home"
      assert_raises(UsageError) { plan("shop/a.rb", "shop/b.rb") }.then { |error| assert_match(/there is no config\.ru/, error.message) }
    end
  end
end
