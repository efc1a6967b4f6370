# frozen_string_literal: true

module PumaTuner
  module CLI
    # What a shell completes.
    class Commands::Completion < Command
      desc "Print what your shell completes of this command, for its settings"
      argument :shell, Completions::SHELLS.keys.join(", "), choices: Completions::SHELLS.keys
      example [
        "bash > ~/.local/share/bash-completion/completions/puma_tuner",
        "zsh > \"${fpath[1]}/_puma_tuner\"",
        "fish > ~/.config/fish/completions/puma_tuner.fish"
      ]

      def call(shell:)
        written = Completions::SHELLS.fetch(shell) do
          raise UsageError, "there are completions for #{Completions::SHELLS.keys.join(", ")}, " \
            "and none for #{shell.inspect}"
        end
        out.puts(Completions.public_send(written))
      end
    end
  end
end
