# frozen_string_literal: true

module PumaTuner
  module CLI
    # Prints a script by which a shell completes the command.
    class Commands::Completion < Command
      desc "Print a tab completion script for your shell"
      argument :shell, Completions::SHELLS.keys.join(", "), choices: Completions::SHELLS.keys
      example [
        "bash > ~/.local/share/bash-completion/completions/puma_tuner",
        "zsh > \"${fpath[1]}/_puma_tuner\"",
        "fish > ~/.config/fish/completions/puma_tuner.fish"
      ]

      def call(shell:)
        written = Completions::SHELLS.fetch(shell) do
          raise UsageError, "no completion for #{shell.inspect}; choose one of #{Completions::SHELLS.keys.join(", ")}"
        end
        out.puts(Completions.public_send(written))
      end
    end
  end
end
