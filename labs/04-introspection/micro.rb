# frozen_string_literal: true

# Two of the story's techniques by themselves. A method that calls its block, in five ways; and a method that has to make sure
# of something that can never change again, of one object and of 200 in turn, as a schema has types.
module Blocks
  def self.by_yield = yield

  def self.called(&block) = block.call # standard:disable Performance/RedundantBlockCall

  def self.yielded(&block) = yield

  def self.handed_on(&block) = by_yield(&block)

  def self.handed_on_unnamed(&) = by_yield(&)
end

# Each by itself: a call by name would cost more than what is measured.
block("by_yield") do |count|
  while count > 0
    Blocks.by_yield { nil }
    count -= 1
  end
end

block("called") do |count|
  while count > 0
    Blocks.called { nil }
    count -= 1
  end
end

block("yielded") do |count|
  while count > 0
    Blocks.yielded { nil }
    count -= 1
  end
end

block("handed_on") do |count|
  while count > 0
    Blocks.handed_on { nil }
    count -= 1
  end
end

block("handed_on_unnamed") do |count|
  while count > 0
    Blocks.handed_on_unnamed { nil }
    count -= 1
  end
end

# The definition of a type, which is made when it is first needed.
class Checked
  def initialize = @pending = true

  def name
    ensure_defined
    @name
  end

  private

  def ensure_defined
    return unless @pending
    @pending = false
    @name = "name"
  end
end

# As graphql 1.5 does it: until the definition is made, each object has a method of its own in the place of the real one; the
# first call puts the real one there.
class Removed
  attr_reader :name

  def initialize
    real = self.class.instance_method(:name)
    define_singleton_method(:name) do
      @name = "name"
      define_singleton_method(:name, real)
      name
    end
  end
end

# The same without a trace: what is left is the class's own method.
class Restored
  attr_reader :name

  def initialize
    define_singleton_method(:name) do
      @name = "name"
      singleton_class.remove_method(:name)
      name
    end
  end
end

# Nothing was ever to be made sure of.
class Ready
  attr_reader :name

  def initialize = @name = "name"
end

[Checked, Removed, Restored, Ready].product([1, 200]) do |type, count|
  objects = Array.new(count) { type.new.tap(&:name) }
  place = 0
  block("#{type.name.downcase}, #{count}") do |times|
    while times > 0
      objects[place].name
      place += 1
      place = 0 if place == count
      times -= 1
    end
  end
end
