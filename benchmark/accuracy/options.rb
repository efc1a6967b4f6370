# frozen_string_literal: true

require_relative "../support/script"

module Accuracy
  # What the command line asks for.
  #
  # tools, workloads, conditions: names; scale: of the workloads' usual length
  # blame: whether to look at who held the GVL, too
  Options = Data.define(:rounds_count, :quick, :tools, :workloads, :conditions, :blame, :write) do
    const_set(:ROUNDS_COUNT, 3)
    const_set(:QUICK_SCALE, 0.25)
    const_set(:CONDITIONS, %w[idle loaded].freeze)

    extend Script::Options

    def self.defaults = {rounds_count: nil, quick: false, tools: Tools::NAMES, workloads: Workloads::NAMES, conditions: self::CONDITIONS, blame: true, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/accuracy.rb [options]") do |parser|
        parser.on("--rounds N", Integer, "everything this often (default: #{self::ROUNDS_COUNT})") do |count|
          given[:rounds_count] = positive(count)
        end
        parser.on("--quick", "one round of short work, to see whether it works") { given[:quick] = true }
        {tools: Tools::NAMES, workloads: Workloads::NAMES, conditions: self::CONDITIONS}.each do |option, names|
          parser.on("--#{option} A,B", Array, "some of #{names.join(",")}") { |some| given[option] = known(some, names) }
        end
        parser.on("--[no-]blame", "without who held the GVL") { |blame| given[:blame] = blame }
        parser.on("--write", "write docs/accuracy.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    def initialize(rounds_count:, quick:, **others)
      super(rounds_count: rounds_count || (quick ? 1 : self.class::ROUNDS_COUNT), quick:, **others)
    end

    def scale = quick ? self.class::QUICK_SCALE : 1.0

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      whole = !quick && rounds_count >= self.class::ROUNDS_COUNT && blame && tools == Tools::NAMES && workloads == Workloads::NAMES && conditions == self.class::CONDITIONS
      return if whole || !write
      raise OptionParser::InvalidArgument, "--write needs all tools, workloads, conditions and blame, #{self.class::ROUNDS_COUNT} rounds or more, and no --quick"
    end
  end
end
