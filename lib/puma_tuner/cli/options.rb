# frozen_string_literal: true

module PumaTuner
  module CLI
    # Options that several commands share, as values: what they mean together.
    module Options
      PumaTuner.autoload_folder(self, "#{__dir__}/options")

      # What names a running server.
      SERVER = "its process id, or the folder that it runs in; needed where several servers are recorded"

      # @param names [Array<Symbol>] of the dictionary, and of arguments
      # @return [Class] of a value of these, nil where a command does not have one
      def self.group(*names)
        Data.define(*names) do
          # @param options [Hash{Symbol => Object}] of a command
          def self.from(options) = new(**members.to_h { |name| [name, options[name]] })
        end
      end
    end
  end
end
