# frozen_string_literal: true

require "puma_tuner/probe"

module PumaTuner
  # `PumaTuner.run` as a Rails app starts, where neither puma.rb nor the command can be changed: `require:
  # "puma_tuner/railtie"` in its Gemfile.
  class Railtie < ::Rails::Railtie
    initializer("puma_tuner.run") { PumaTuner.run }
  end
end
