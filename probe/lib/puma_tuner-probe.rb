# frozen_string_literal: true

# What Bundler requires for `gem "puma_tuner-probe"`.
require_relative "puma_tuner/probe"
