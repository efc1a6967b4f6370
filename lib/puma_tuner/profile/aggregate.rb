# frozen_string_literal: true

module PumaTuner
  module Profile
    # Stacks, of one process or of many -> what each method took by itself and in all, and the tree of who called whom.
    class Aggregate
      # A smaller share of the whole is no more than a line in a picture.
      PICTURE_RATIO = 0.0005

      # The place, in a tree, of what is too small for a picture.
      SMALL = -1

      # The most frequent callers of a method are kept.
      CALLERS_MAX = 12

      # So many methods are kept: enough for any question, not for every getter that a minute of tracing has met.
      METHODS_MAX = 2_000
      SITES_MAX = 500

      # A place in the tree: children by the method's index.
      Branch = Struct.new(:index, :self_amount, :total_amount, :branches)

      # @param samples [Array<Samples>] of one profiler and mode
      # @param whole [Boolean] whether stacks are taken as they are, with all that stands above a request
      def initialize(samples, whole: false)
        @samples = samples
        @whole = whole
        @places = {}
        @frames = []
        @selves = []
        @totals = []
        @marks = []
        @root = Branch.new(nil, 0, 0, {})
        @left_out_amount = 0
        @stack_number = 0
        @layers = Hash.new(0)
        samples.each { |one| one.stacks.each { |stack| add(stack) } }
      end

      # @return [Numeric] of all that was left out
      attr_reader :left_out_amount

      # @return [Numeric] of all stacks that count; of all objects where there are no stacks
      def total_amount
        return @root.total_amount if @stack_number.positive? || @left_out_amount.positive?
        @samples.sum { |one| one.allocations.sum { |site| site.objects_count.to_i } }
      end

      # @return [Array<MethodCost>] dearest by itself first
      def methods
        order.first(METHODS_MAX).map { |index| method_cost(index) }
      end

      # @return [Array] see Costs
      def tree = [].tap { |list| add_branch(@root, 0, new_places, list) }

      # @return [Array<Layer>] in the order of Layers::NAMES, those in which something ran; none of profilers that look
      #   at Ruby alone
      def layers = Layers::NAMES.filter_map { |name| Layer.new(name:, amount: @layers[name]) if @layers.key?(name) }

      # @return [Array<AllocationSite>] with most objects first
      def allocations
        sites = @samples.flat_map(&:allocations).group_by { |site| [site.class_name, site.path, site.line] }
        sites.values.map { |same| site(same) }.sort_by { |site| [-site.objects_count.to_i, site.class_name] }
          .first(SITES_MAX)
      end

      private

      def add(stack)
        frames = @whole ? stack.frames : Stacks.relevant(stack.frames)
        return @left_out_amount += stack.amount unless frames
        @stack_number += 1
        @layers[frames.last&.layer] += stack.amount
        here = @root
        here.total_amount += stack.amount
        frames.each { |frame| here = step(here, place(frame), stack.amount) }
        here.self_amount += stack.amount
        here.index ? @selves[here.index] += stack.amount : nil
      end

      def step(branch, index, amount)
        unless @marks[index] == @stack_number # one that recurs counts once
          @marks[index] = @stack_number
          @totals[index] += amount
        end
        below = branch.branches[index] ||= Branch.new(index, 0, 0, {})
        below.total_amount += amount
        below
      end

      # Methods are known by name and file: profilers differ in whether a line is the method's or the sample's.
      def place(frame)
        @places[[frame.name, frame.path]] ||= @frames.size.tap do
          @frames << frame
          @selves << 0
          @totals << 0
          @marks << 0
        end
      end

      def order
        @order ||= called_only.each_index.sort_by do |index|
          [-@selves[index], -@totals[index], -calls_of(index).to_i, @frames[index].name]
        end
      end

      # Methods that were called, and took no time that the clock could see, have no stack of their own.
      def called_only
        calls.each_key { |frame| place(frame) }
        @frames
      end

      def new_places
        @new_places ||= order.first(METHODS_MAX).each_with_index.to_h { |index, new_place| [index, new_place] }
      end

      def method_cost(index)
        frame = @frames[index]
        call = calls_by_key[[frame.name, frame.path]]
        MethodCost.new(name: frame.name, path: frame.path, line: frame.line, self_amount: @selves[index],
          total_amount: @totals[index], calls_count: call&.sum(&:calls_count), callers: callers(call),
          repeated_count: call&.filter_map(&:repeated_count)&.then { |counts| counts.sum if counts.any? })
      end

      def callers(calls)
        counts = Hash.new(0)
        calls&.each { |call| call.callers.each { |frame, count| counts[frame.name] += count } }
        counts.sort_by { |name, count| [-count, name] }.first(CALLERS_MAX).to_h
      end

      def calls_of(index) = calls_by_key[[@frames[index].name, @frames[index].path]]&.sum(&:calls_count)

      def calls = @calls ||= @samples.flat_map(&:calls).to_h { |call| [call.frame, call] }

      def calls_by_key
        @calls_by_key ||= @samples.flat_map(&:calls).group_by { |call| [call.frame.name, call.frame.path] }
      end

      def add_branch(branch, depth, places, list)
        list << [depth, places[branch.index], branch.self_amount, branch.total_amount]
        large, small = branch.branches.values.partition do |below|
          below.total_amount >= total_amount * PICTURE_RATIO && places.key?(below.index)
        end
        large.sort_by { |one| -one.total_amount }.each { |one| add_branch(one, depth + 1, places, list) }
        small_amount = small.sum(&:total_amount)
        list << [depth + 1, SMALL, small_amount, small_amount] if small_amount.positive?
      end

      def site(same)
        sum = ->(field) { same.all?(&field) ? same.sum(&field) : nil }
        first = same.first
        AllocationSite.new(class_name: first.class_name, path: first.path, line: first.line,
          objects_count: sum.call(:objects_count), bytes: sum.call(:bytes),
          retained_objects_count: sum.call(:retained_objects_count), retained_bytes: sum.call(:retained_bytes))
      end
    end
  end
end
