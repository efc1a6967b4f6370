# frozen_string_literal: true

# What each child of this lab begins with: the gems of its variant, the cure where the variant has it, and the schema.
require_relative "../support/gems"
LabGems.activate

begin
  require "concurrent/map"
rescue LoadError
  nil # today's graphql does without it
end
require_relative "../01-falsy-cache/patch" if ENV["FALSY_CACHE_PATCH"] == "on"

require_relative "../support/old_graphql"
OldGraphql.prepare
require "graphql"
require_relative "schema"
