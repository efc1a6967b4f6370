# frozen_string_literal: true

module PumaTuner
  module CLI
    # The manual page, made of the table of commands and the dictionary of options: `rake man` writes man/puma_tuner.1.
    module ManPage
      EXIT_CODES = {
        0 => "fine",
        1 => "an expectation was not met: prove \\-\\-expect, tune and load \\-\\-slo, load \\-\\-self\\-test; " \
             "advise \\-\\-prove: an advice came out otherwise; trial: it did harm",
        2 => "usage error: the message says what to write instead",
        3 => "the measurement failed, or ended early", 70 => "a bug of puma_tuner; please report it",
        130 => "interrupted; everything that it started is stopped",
        141 => "the reader of its output is gone"
      }.freeze

      module_function

      # @return [String] roff
      def to_s
        [head, *Commands::OWN.keys.map { |name| section(Commands.fetch(name)) }, exit_codes, files].join("\n") + "\n"
      end

      def head
        <<~ROFF.chomp
          .\\" Made by `rake man`, out of the commands' own table.
          .TH PUMA_TUNER 1 "" "puma_tuner #{VERSION}" "User commands"
          .SH NAME
          puma_tuner \\- shows where a Puma app's time goes, and finds and verifies better settings
          .SH SYNOPSIS
          .B puma_tuner
          .I COMMAND
          [OPTIONS] [WORDS\\&.\\|.\\|.]
          .SH DESCRIPTION
          In an app's folder, \\fBpuma_tuner tune\\fR measures the app, predicts other worker and thread settings,
          recommends one, and verifies it under load. The other commands are its stages, and tools beside them.
          .SH COMMANDS
        ROFF
      end

      def section(command)
        rows = command.arguments.map { |argument| row("\\fI#{argument.name.to_s.upcase}\\fR", argument.about) } +
          command.listed.map { |option| row("\\fB#{escaped(option.usage)}\\fR", option.told) }
        [".SS #{escaped(Help.usage(command))}", "#{escaped(command.about)}.", *rows].join("\n")
      end

      def row(left, text) = ".TP\n#{left}\n#{escaped(text)}"

      def exit_codes = [".SH EXIT STATUS", *EXIT_CODES.map { |code, text| ".TP\n#{code}\n#{text}" }].join("\n")

      def files
        <<~ROFF.chomp
          .SH FILES
          What a command makes goes into
          .I tmp/puma_tuner
          below the app's folder, unless another place is named.
        ROFF
      end

      # A line that begins with a dot or a quote would be a request.
      def escaped(text)
        text.gsub("\\", "\\e").gsub("-", "\\-").gsub(/^[.']/) { "\\&#{$&}" }
          .gsub(/[^[:ascii:]]/) { |character| format("\\[u%04X]", character.ord) }
      end

      private_class_method :head, :section, :row, :exit_codes, :files, :escaped
    end
  end
end
