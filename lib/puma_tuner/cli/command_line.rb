# frozen_string_literal: true

require "did_you_mean"
require "optparse"

module PumaTuner
  module CLI
    # The words of one command, as values. What it tells of words that it does
    # not understand is their names alone, as their values may be secret.
    class CommandLine
      # @param names [Array<String>]
      # @return [String, nil] the one that was meant
      def self.nearest(name, names) = DidYouMean::SpellChecker.new(dictionary: names).correct(name).first

      # Documents hold the command, and are UTF-8. In other bytes Ruby looks for no pattern.
      #
      # @param words [Array<String>] of the command
      # @raise [UsageError]
      def self.ensure_text(words)
        place = words.index { |word| !word.valid_encoding? } or return
        raise UsageError, "word #{place + 1} of the command is not UTF-8 text; where it names a file, rename that"
      end

      # @param command [Class] of a Command
      def initialize(command)
        @command = command
        @values = {}
      end

      # @param words [Array<String>]
      # @return [Hash{Symbol => Object}]
      def parse(words)
        ours, theirs = split(words)
        @values = @command.declared.transform_values(&:without_it)
        ensure_known(ours)
        rest = parser.permute(ours)
        @values.merge(arguments(rest + theirs))
      rescue OptionParser::InvalidOption => error
        raise UsageError, unknown(error.args.first[/\A[^=]*/])
      rescue OptionParser::MissingArgument => error
        raise UsageError, "#{error.args.first} needs a value: #{known(error.args.first)&.usage || "see `#{help}`"}"
      rescue OptionParser::NeedlessArgument => error
        raise UsageError, "#{error.args.first[/\A[^=]*/]} takes no value"
      end

      private

      def split(words)
        place = words.index("--")
        place ? [words.first(place), words.drop(place + 1)] : [words, []]
      end

      # OptionParser takes beginnings of names. Told not to (require_exact), Ruby 3.3's refuses --no-… and --name=value.
      def ensure_known(words)
        [nil, *words].each_cons(2) do |before, word|
          next if !word.match?(/\A-./) || flags.include?(word[/\A[^=]*/]) || known(before)&.value?
          raise OptionParser::InvalidOption, word
        end
      end

      # @return [Array<String>] all that the command has
      def flags = @command.declared.values.flat_map(&:flags)

      def help = "puma_tuner #{Commands.name_of(@command)} --help"

      def parser
        OptionParser.new do |parser|
          # Its own --version and completions.
          parser.base.long.clear
          parser.base.short.clear
          @command.declared.each_value { |option| declare(parser, option) }
        end
      end

      def declare(parser, option)
        names = [option.flag]
        names = ["--[no-]#{option.flag.delete_prefix("--")}"] if option.type == :switch
        names[0] = "#{names[0]} VALUE" if option.value?
        parser.on(*names) { |text| take(option, text) }
      end

      def take(option, text)
        return @values[option.name] = text unless option.value?
        value = option.read(text)
        option.repeated? ? @values[option.name] += [value] : @values[option.name] = value
      end

      def arguments(words)
        single, many = @command.arguments.partition { |argument| !argument.many }
        values = single.to_h { |argument| [argument.name, words.shift] }
        missing = @command.arguments.find do |argument|
          argument.required && !argument.many && values[argument.name].nil?
        end
        raise UsageError, "#{missing.name.upcase} is missing: #{missing.about}. See `#{help}`" if missing
        return {**values, many.first.name => words} if many.any?
        if words.any?
          raise UsageError, "#{Host::Masking.words(words).first.inspect} is an argument too many; see " \
            "`#{help}`"
        end
        values
      end

      def known(flag) = @command.declared.each_value.find { |option| option.flag == flag }

      def unknown(flag)
        new_name = @command.renames[flag.delete_prefix("--").tr("-", "_").to_sym]
        return "#{flag} means something else now; #{instead(new_name)}" if new_name
        likely = CommandLine.nearest(flag, flags)
        here = " here" if Dictionary::ALL.each_value.any? { |option| option.flag == flag }
        ["there is no option #{flag}#{here}#{likely ? "; did you mean #{likely}?" : "."}", @command.hint,
          "See `#{help}`."].compact.join(" ")
      end

      # @param new_name [Symbol, String] an option of the dictionary, or what to write
      def instead(new_name)
        return new_name unless new_name.is_a?(Symbol)
        option = Dictionary.fetch(new_name)
        "write #{option.flag} (#{option.about})"
      end
    end
  end
end
