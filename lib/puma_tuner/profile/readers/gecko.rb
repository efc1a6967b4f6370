# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # One thread of the Firefox profiler's format: tables, and stacks as a tree of rows, each naming its parent.
      class Gecko
        # @param thread [Hash] of the document's "threads"
        # @param frame [#call] of name, path, line: a Frame
        def initialize(thread, frame)
          @strings = thread.fetch("stringArray")
          @functions = thread.fetch("funcTable")
          @frame_functions = thread.fetch("frameTable").fetch("func")
          stacks = thread.fetch("stackTable")
          @stack_frames = stacks.fetch("frame")
          @stack_parents = stacks.fetch("prefix")
          @stack_categories = stacks.fetch("category")
          @frame = frame
          @by_function = {}
          @by_stack = {}
        end

        # Deep stacks must not become deep recursion: ancestors come first.
        #
        # @param row [Integer] of the table of stacks
        # @return [Array<Frame>] root first
        def frames(row)
          return @by_stack[row] if @by_stack.key?(row)
          lineage = [row]
          while (parent = @stack_parents.fetch(lineage.last)) && !@by_stack.key?(parent)
            raise IndexError, "a stack is its own ancestor" if lineage.size > @stack_parents.size
            lineage << parent
          end
          lineage.reverse_each do |place|
            @by_stack[place] = [*@by_stack[@stack_parents.fetch(place)], frame_of(place)].freeze
          end
          @by_stack[row]
        end

        # @return [Integer] what the thread did, a row of the document's categories
        def category(row) = @stack_categories.fetch(row)

        private

        def frame_of(row)
          function = @frame_functions.fetch(@stack_frames.fetch(row))
          @by_function[function] ||= @frame.call(@strings.fetch(@functions.fetch("name").fetch(function)),
            @strings.fetch(@functions.fetch("fileName").fetch(function)),
            @functions.fetch("lineNumber").fetch(function))
        end
      end
    end
  end
end
