# frozen_string_literal: true

module Bench
  # What a command line asks for. `--rounds N`, `--quick` and `--write` are the same for all who have them.
  module Options
    QUICK = "a few short rounds, to see whether it works; its numbers mean nothing"

    # @param name [String] of the file in benchmark/
    # @param page [String, nil] that --write writes, e.g. "docs/measured/stall.md"; nil: there is none
    # @param needs [String, nil] of a run whose page can be written: after "--write needs", where the class's `whole?` denies it
    # @param rounds [String, nil] about --rounds, for those who have it; the field is nil for their usual number
    # @param quick [String, nil] about --quick, likewise
    # @param own [Hash{Symbol => Object}] further fields, as they are unless asked for
    # @yieldparam parser [OptionParser]
    # @yieldparam given [Hash] of fields, to be changed
    # @return [Class] of Data, with `parse`
    def self.define(name, page: nil, needs: nil, rounds: nil, quick: nil, **own, &words)
      shared = {rounds_count: nil, quick: false}.slice(*(:rounds_count if rounds), *(:quick if quick))
      defaults = {**shared, **own, write: false}
      Data.define(*defaults.keys) do
        extend Parsing
        include Whole

        define_singleton_method(:page) { page }
        define_singleton_method(:needs) { needs }
        define_singleton_method(:defaults) { defaults }
        define_singleton_method(:parser) do |given|
          OptionParser.new("Usage: ruby -Ilib benchmark/#{name}.rb [options]") do |parser|
            parser.on("--rounds N", Integer, rounds) { |count| given[:rounds_count] = positive(count) } if rounds
            parser.on("--quick", quick) { given[:quick] = true } if quick
            instance_exec(parser, given, &words) if words
            parser.on("--write", "write #{page}") { given[:write] = true } if page
          end
        end
      end
    end

    # For options. The page is written whole, and people will quote it.
    module Whole
      # @return [Boolean] whether the run is worth a page
      def whole? = !(members.include?(:quick) && quick)
    end

    # For the class of options.
    module Parsing
      # @param words [Array<String>]
      # @return [Data] the options
      # @raise [OptionParser::ParseError]
      def parse(words)
        given = defaults.dup
        left = parser(given).parse(words)
        raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
        new(**given).tap { |options| raise OptionParser::InvalidArgument, "--write needs #{needs}" if options.write && !options.whole? }
      end

      # @raise [OptionParser::InvalidArgument]
      def positive(count)
        count.positive? ? count : raise(OptionParser::InvalidArgument, "at least one, got #{count}")
      end

      # @return [Array<String>] in their usual order, whatever order they are asked for in
      # @raise [OptionParser::InvalidArgument]
      def known(some, names)
        unknown = some - names
        unknown.empty? ? names & some : raise(OptionParser::InvalidArgument, "#{unknown.join(",")}; there is #{names.join(",")}")
      end
    end
  end
end
