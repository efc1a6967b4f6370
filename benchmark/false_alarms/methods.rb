# frozen_string_literal: true

require_relative "methods/block_welch"
require_relative "methods/bootstrap"
require_relative "methods/one_run"
require_relative "methods/ours"
require_relative "methods/pairs_t"

module FalseAlarms
  # Ways of comparing after a number of rounds that was fixed beforehand. Each has a TITLE, and `interval`: log speeds of
  # trials after each other, chance, and the true log effect -> what it says of that effect.
  module Methods
    ALL = [Ours, PairsT, Bootstrap, BlockWelch, OneRun].freeze
  end
end
