# frozen_string_literal: true

module PumaTuner
  VERSION = "0.1.0"
end
