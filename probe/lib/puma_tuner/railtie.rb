# frozen_string_literal: true

require "puma_tuner/probe"

module PumaTuner
  # Puts the middleware into a Rails app that has the gem in its Gemfile: `require: "puma_tuner/railtie"`.
  class Railtie < ::Rails::Railtie
    initializer("puma_tuner.middleware") { |app| app.middleware.insert(0, PumaTuner::Rack) }
  end
end
