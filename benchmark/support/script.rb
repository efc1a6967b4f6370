# frozen_string_literal: true

require "optparse"
require "puma_tuner"

# What all benchmarks do with their words and their ending.
module Script
  # Ends the program with the block's status; with 2 for what the user can mend, and 130 after Ctrl-C. Whatever was started
  # has been ended on the way here.
  # @param name [String] as it is called to the user
  def self.run(name)
    exit yield
  rescue PumaTuner::UserMistake, OptionParser::ParseError => error
    warn "#{name}: #{error.message}"
    exit 2
  rescue Interrupt
    warn "#{name}: interrupted"
    exit 130
  end

  # @param outcomes [Array<Symbol>] :met, :missed or :not_shown, of each target
  # @return [Integer] 0 when all are met; 1 when one is missed; 3 when that can't be told here, which is no success either
  def self.status(outcomes)
    return 1 if outcomes.include?(:missed)
    outcomes.include?(:not_shown) ? 3 : 0
  end

  # For the class of a benchmark's options: `defaults`, `parser(given)` and `insist_on_a_whole_page`.
  module Options
    # @param words [Array<String>]
    # @return [Data] the options
    # @raise [OptionParser::ParseError]
    def parse(words)
      given = defaults
      left = parser(given).parse(words)
      raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
      new(**given).tap(&:insist_on_a_whole_page)
    end

    private

    def positive(count)
      count.positive? ? count : raise(OptionParser::InvalidArgument, "at least one round, got #{count}")
    end

    # In their usual order, whatever order they are asked for in.
    def known(some, names)
      unknown = some - names
      unknown.empty? ? names & some : raise(OptionParser::InvalidArgument, "#{unknown.join(",")}; there is #{names.join(",")}")
    end
  end
end
