# frozen_string_literal: true

require "ruby-prof"

# What a block calls, by ruby-prof: exact counts, and shares of its time that are only rough, as each traced call takes
# longer than it would.
class CallCounts
  # By the wall's clock: the process's CPU time is asked of the kernel, at each call and return, which takes seven times as long as all the rest.
  #
  # @yield what is profiled, once
  # @return [CallCounts]
  def self.of
    profile = RubyProf::Profile.new(measure_mode: RubyProf::WALL_TIME)
    profile.start
    begin
      yield
    ensure
      profile.stop
    end
    new(profile.threads.max_by { |thread| thread.methods.sum(&:called) })
  end

  # @param thread [RubyProf::Thread]
  def initialize(thread)
    @thread = thread
    @methods = thread.methods
  end

  # @param pattern [Regexp] of a method's full name, such as /Hash#fetch\z/
  # @return [Integer]
  def count(pattern) = @methods.select { |method| pattern.match?(method.full_name) }.sum(&:called)

  # @return [Integer] calls of methods, in Ruby and in C
  def total = @methods.sum(&:called)

  # @return [Array<Array(String, Integer, Float, Float)>] name, calls, seconds in itself, seconds in all: the dearest first
  def top(count) = @methods.sort_by { |method| -method.self_time }.first(count).map { |method| [method.full_name, method.called, method.self_time, method.total_time] }

  # @return [Float] seconds
  def total_s = @thread.total_time

  # @return [Array<Array(String, Integer)>, nil] names and calls down to that method, by the path on which it is called most
  def path_to(pattern, tree = @thread.call_tree)
    return [[tree.target.full_name, tree.called]] if pattern.match?(tree.target.full_name)
    found = tree.children.filter_map { |child| path_to(pattern, child) }.max_by { |path| path.last.last }
    found && [[tree.target.full_name, tree.called], *found]
  end
end
