# frozen_string_literal: true

module PumaTuner
  module CLI
    # Scripts for shells, made of the table of commands and the dictionary of options. After an option whose value is a
    # path, and where nothing else fits, files are completed.
    module Completions
      # Name => method.
      SHELLS = {"bash" => :bash, "zsh" => :zsh, "fish" => :fish}.freeze

      module_function

      # @return [String]
      def bash
        cases = Commands.all.map { |name, command| "    #{pattern(name)}) words=\"#{words(command).join(" ")}\" ;;" }
        cases += parts.map { |verb, names| "    \"#{verb} \"*) words=\"#{names.join(" ")}\" ;;" }
        <<~BASH
          # puma_tuner: completions for bash
          _puma_tuner() {
            local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""
            COMPREPLY=()
            if [ "$COMP_CWORD" -eq 1 ]; then
              COMPREPLY=($(compgen -W "#{verbs.keys.join(" ")}" -- "$current"))
              return
            fi
            case "$previous" in
              #{with_value(&:path?).join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
              #{with_value { |option| !option.path? }.join("|")}) return ;;
            esac
            case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
          #{cases.join("\n")}
            esac
            case "$current" in
              -*) COMPREPLY=($(compgen -W "$words --help" -- "$current")) ;;
              *) COMPREPLY=($(compgen -W "${words//--*/}" -- "$current") $(compgen -f -- "$current")) ;;
            esac
          }
          complete -o filenames -F _puma_tuner puma_tuner
        BASH
      end

      # @return [String]
      def zsh
        cases = Commands.all.map do |name, command|
          "    #{pattern(name)}) specs=(#{command.listed.flat_map { |option| zsh_specs(option) }.join(" ")}) ;;"
        end
        <<~ZSH
          #compdef puma_tuner
          # puma_tuner: completions for zsh
          local -a specs commands
          commands=(#{verbs.map { |verb, about| quoted("#{verb}:#{about}") }.join(" ")})
          if (( CURRENT == 2 )); then
            _describe command commands
            return
          fi
          case "$words[2] $words[3]" in
          #{cases.join("\n")}
          esac
          _arguments -s $specs '--help[tells the options]' '*:file:_files'
        ZSH
      end

      # @return [String]
      def fish
        lines = verbs.map do |verb, about|
          "complete -c puma_tuner -n __fish_use_subcommand -f -a #{verb} -d #{quoted(about)}"
        end
        lines += Commands.all.flat_map do |name, command|
          command.listed.flat_map do |option|
            option.flags.map do |flag|
              "complete -c puma_tuner -n '__fish_seen_subcommand_from #{name.split.last}' -l " \
                "#{flag.delete_prefix("--")}#{fish_value(option)} -d #{quoted(option.about)}"
            end
          end
        end
        "# puma_tuner: completions for fish\n#{lines.join("\n")}\n"
      end

      # @return [Hash{String => String}] first words, each with what it does
      def verbs = Commands.all.to_h { |name, command| [name[/\w+/], command.about] }

      # @return [String] of a command's first two words, for `case`; those of
      #   two words come before those of their first alone
      def pattern(name) = name.include?(" ") ? "\"#{name}\"" : "\"#{name} \"*"

      # @return [Hash{String => Array<String>}] second words of verbs that have some
      def parts
        Commands::NAMES.keys.map(&:split).select { |words| words.size > 1 }.group_by(&:first)
          .transform_values { |names| names.map(&:last) }
      end

      def words(command) = command.arguments.flat_map(&:choices) + command.listed.flat_map(&:flags)

      def with_value(&)
        Commands.all.values.flat_map { |command| command.declared.values }.select(&:value?).select(&)
          .flat_map(&:flags).uniq
      end

      def zsh_specs(option)
        option.flags.map do |flag|
          value = if option.value?
            ":#{option.takes.downcase.delete(":")}:#{option.path? ? "_files" : " "}"
          else
            ""
          end
          about = option.about.gsub(/[\[\]:]/) { "\\#{$&}" }
          quoted("#{"*" if option.repeated?}#{flag}#{"=" if option.value?}[#{about}]#{value}")
        end
      end

      def fish_value(option)
        return "" unless option.value?
        option.path? ? " -r -F" : " -x"
      end

      # @return [String] for a shell
      def quoted(text) = "'#{text.gsub("'", "'\\\\''")}'"

      private_class_method :verbs, :pattern, :parts, :words, :with_value, :zsh_specs, :fish_value, :quoted
    end
  end
end
