# frozen_string_literal: true

# Bundler requires this file for `gem "puma_tuner-probe"`.
require_relative "puma_tuner/probe"
