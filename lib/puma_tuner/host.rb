# frozen_string_literal: true

module PumaTuner
  # The server process under our control, and the machine it runs on. No opinions about either.
  module Host
    PumaTuner.autoload_folder(self, "#{__dir__}/host", readings: %i[Readings Spent])
  end
end
