# frozen_string_literal: true

require "optparse"
require "puma_tuner"
%w[options markdown provenance verdict page native].each { |name| require_relative name }

# What all benchmarks share: their words, the order of rounds, targets and what came of them, their page, and how they end.
module Bench
  PROJECT = File.expand_path("../..", __dir__)
  LIBRARY_FOLDER = File.join(PROJECT, "lib")

  # Shown in tables.
  OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze

  class << self
    # Runs a benchmark, where its file is the one that Ruby was told to run: reads its options, measures, prints, and writes the page that was asked for.
    # Never returns then.
    #
    # @param file [String] __FILE__
    # @param options_class [Class] see Options.define
    # @yieldparam options [Data]
    # @yieldparam machine [PumaTuner::Probe::MachineFacts] as it was before
    # @yieldreturn [Page]
    def program(file, options_class)
      return unless File.identical?(file, $PROGRAM_NAME)
      ending(File.basename(file, ".rb")) do
        options = options_class.parse(ARGV)
        page = yield options, PumaTuner::Probe::MachineFacts.read
        puts page.results
        page.write(File.join(PROJECT, options_class.page)) if options.write
        status(page.outcomes)
      end
    end

    # Ends the program with the block's status; with 2 for what the user can fix, 3 where the measurement failed, and 130
    # after Ctrl-C. Whatever was started has been ended on the way here.
    #
    # @param name [String] as it is called to the user
    def ending(name)
      exit yield
    rescue PumaTuner::UsageError, OptionParser::ParseError => error
      warn "#{name}: #{error.message}"
      exit 2
    rescue PumaTuner::MeasurementFailed => error
      warn "#{name}: #{error.message}"
      exit 3
    rescue Interrupt
      warn "#{name}: interrupted"
      exit 130
    end

    # @param outcomes [Array<Symbol>] :met, :missed or :not_shown, of each target
    # @return [Integer] 0 when all are met; 1 when one is missed; 3 when that can't be told here, which is no success either
    def status(outcomes)
      return 1 if outcomes.include?(:missed)
      outcomes.include?(:not_shown) ? 3 : 0
    end

    # Who comes when. Every round has each variant once. Rounds come in pairs, the second in the first one's order from its end,
    # so that nobody always follows the same one; the next pair begins with the next variant.
    #
    # @param variants [Array]
    # @param round [Integer]
    # @return [Array] the same in this round's order
    def order(variants, round)
      rotated = variants.rotate(round / 2)
      round.odd? ? rotated.reverse : rotated
    end

    # @param numbers [Array<Numeric, nil>]
    # @return [Numeric, nil]
    def median(numbers) = PumaTuner::Stats::Quantile.of(numbers.compact.sort, 0.5)
  end
end
