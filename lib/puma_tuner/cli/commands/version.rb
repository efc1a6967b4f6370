# frozen_string_literal: true

module PumaTuner
  module CLI
    # Prints the version.
    class Commands::Version < Command
      desc "Print the version"

      def call = out.puts("puma_tuner #{VERSION}")
    end
  end
end
