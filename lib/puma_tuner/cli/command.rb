# frozen_string_literal: true

require "optparse"

module PumaTuner
  module CLI
    # A verb: what it takes, and what it does. Its class declares, in this
    # order: desc, tells_of_an_app, argument(s), options, renamed, example.
    class Command
      # A word of the command that is no option. many: all that are left, those
      # after `--` too; choices: all that it can be, or the usual ones
      Argument = Data.define(:name, :about, :required, :many, :choices)

      class << self
        attr_reader :about, :hint

        # @param text [String] one sentence
        # @param hint [String, nil] a line on where words go that were not understood
        def desc(text, hint: nil)
          @about = text
          @hint = hint
        end

        def argument(name, about, required: true, many: false, choices: [])
          arguments << Argument.new(name:, about:, required:, many:, choices:)
        end

        # @param names [Array<Symbol>] of the dictionary
        # @param settled [Hash{Symbol => String, Boolean, Hash}] the same with
        #   what holds without it, or with several fields of Option
        def options(*names, **settled)
          names.each { |name| settle(Dictionary.fetch(name)) }
          settled.each do |name, more|
            settle(Dictionary.fetch(name).with(**(more.is_a?(Hash) ? more : {default: more})))
          end
        end

        # An option of this command alone, which is not in the dictionary.
        # @param more [Hash] further fields of Option
        def option(name, type, about, **more)
          raise InvariantError, "#{name} means something in the dictionary" if Dictionary::ALL.key?(name)
          settle(Option.new(name:, type:, about:, takes: name.to_s.upcase, group: "Other options", **more))
        end

        # Declares that its results tell of environments and commands: the app they belong to is known before it begins
        # (docs/reference/secrets.md).
        def tells_of_an_app = @tells_of_an_app = true

        def tells_of_an_app? = @tells_of_an_app || false

        # @param names [Hash{Symbol => Symbol, String}] what an option was called here while its name meant something
        #   else elsewhere => what it is called, or what to write instead
        def renamed(**names) = renames.merge!(names)

        def example(lines) = examples.concat(lines)

        def arguments = @arguments ||= inherited_from(:arguments, [])

        # @return [Hash{Symbol => Option}]
        def declared = @declared ||= inherited_from(:declared, {})

        def renames = @renames ||= inherited_from(:renames, {})

        def examples = @examples ||= []

        # @return [Array<Option>] as help lists them
        def listed
          declared.values.sort_by.with_index do |option, index|
            [Dictionary::TABLE.keys.index(option.group), Dictionary::ALL.keys.index(option.name) || index]
          end
        end

        # @param words [Array<String>]
        # @return [Hash{Symbol => Object}] of arguments and options, each of its type
        # @raise [UsageError]
        def parse(words) = CommandLine.new(self).parse(words)

        private

        def settle(option) = declared[option.name] = option

        def inherited_from(name, none) = superclass.respond_to?(name) ? superclass.public_send(name).dup : none
      end

      # @param out [IO]
      # @param err [IO] told how far the work is, and what went wrong
      # @param clock [#call] seconds that only grow
      # @param verbose [Boolean] whether a value is told in full
      def initialize(out:, err:, clock: Clock.method(:now_s), verbose: false)
        @out = out
        @err = err
        @clock = clock
        @verbose = verbose
      end

      private

      attr_reader :out, :err, :clock

      def progress = Progress.new(err, clock:)

      # The options with which Output tells a value.
      def telling = {out:, err:, verbose: @verbose}

      # Told what is wrong with the user's own files beside the work.
      def beware = ->(text) { err.puts("puma_tuner: #{text}") }

      # @param names [Array<Symbol>] of options that mean something only beside another
      # @param values [Hash{Symbol => Object}] of all
      # @return [String, nil] the first that was given
      def given(names, values)
        names.map { |name| self.class.declared.fetch(name) }.find { |one| values[one.name] != one.without_it }&.flag
      end

      # @return [Hash] with which a report is rendered in that format; only texts can be told otherwise
      def rendering(format, output)
        return {} unless format == "text"
        style = (output == Output::STANDARD_OUTPUT) ? Output.style(out) : {}
        {**style, verbose: @verbose}
      end

      # Announces long work.
      def say = ->(text) { err.puts("  #{text} …") }
    end
  end
end
