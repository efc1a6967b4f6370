# frozen_string_literal: true

# What each child of this lab begins with: the gems of its variant, and the cure where the variant has it.
require_relative "../support/gems"
LabGems.activate

begin
  require "concurrent/map"
rescue LoadError
  nil # the variant without it: graphql then has a map of its own
end
require_relative "patch" if ENV["FALSY_CACHE_PATCH"] == "on"

if Gem.loaded_specs.key?("graphql")
  require_relative "../support/old_graphql"
  OldGraphql.prepare
  require "graphql"
  require_relative "schema"
end
