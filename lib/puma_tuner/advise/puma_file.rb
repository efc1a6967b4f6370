# frozen_string_literal: true

require "prism"

module PumaTuner
  module Advise
    # A puma.rb as text, and with lines of advice in it. Ruby's own parser finds the calls. What is changed are numbers
    # that stand in the file: of a call on the file's top level, or in what it is computed from, such as the default of
    # `ENV.fetch("RAILS_MAX_THREADS", 3)`. Anything else that code computes is left as it is.
    class PumaFile
      # Calls of which the last one counts, so that two of them contradict each other; all other lines are added.
      SETTINGS = %i[workers threads preload_app! max_keep_alive max_io_threads solid_queue_mode].freeze

      # source: the text with the lines; left: Array<String>, the lines that code stands in the way of
      # variables: Hash{String => String}, those of the environment whose defaults were changed, with their new values
      Edited = Data.define(:source, :left, :variables)

      # One line or more of advice. name: of a setting, nil of other code; arguments: its nodes
      Wanted = Data.define(:name, :arguments, :text)

      # A number in the file. location: a Prism::Location; variable: of the environment that goes before it, or nil
      Place = Data.define(:location, :text, :variable)
      private_constant :Place

      # @param source [String]
      # @raise [UsageError] where it nests deeper than its tree can be gone through
      def initialize(source)
        @source = source
        @parsed = Prism.parse(source)
      rescue SystemStackError
        raise UsageError, TOO_DEEP
      end

      TOO_DEEP = "puma.rb nests too deeply to be changed; set what is advised by hand"
      private_constant :TOO_DEEP

      # @return [Boolean] whether it is Ruby at all
      def ruby? = @parsed.errors.empty?

      # @param lines [String] of advice
      # @param comment [String] above what is added
      # @return [Edited] the same text where nothing is left to do
      # @raise [UsageError] as {#initialize}
      def with(lines, comment)
        @variables, @left = {}, []
        found = PumaFile.new(lines).wanted.flat_map { |wanted| wanted.name ? setting(wanted) : code(wanted) }
        edits, added = found.compact.partition { |one| one.is_a?(Edit) }
        Edited.new(source: edited(edits, added, comment), left: @left, variables: @variables)
      rescue SystemStackError
        raise UsageError, TOO_DEEP
      end

      # @return [Array<Wanted>] this text as lines that are wanted in another
      def wanted
        statements.chunk_while { |one, other| !setting_of(one) && !setting_of(other) }.map do |group|
          name = setting_of(group.first)
          text = lines_of(group.first.location.start_line, group.last.location.end_line)
          Wanted.new(name:, arguments: name ? group.first.arguments&.arguments.to_a : [], text:)
        end
      end

      # @param wanted [Wanted] a setting
      # @return [Boolean] whether it is a number of this file
      def sets?(wanted)
        @variables = {}
        !edits(wanted).nil?
      end

      # @return [Array<String>] of each statement, whatever its white space
      def statement_texts = statements.map { |node| node.slice.scrub.split.join(" ") }

      private

      # In the place of what stands at location.
      Edit = Data.define(:location, :text)
      private_constant :Edit

      def statements = @parsed.value.statements.body

      def setting_of(node)
        return unless node.is_a?(Prism::CallNode) && node.receiver.nil? && node.block.nil?
        node.name if SETTINGS.include?(node.name)
      end

      def lines_of(first, last) = @source.lines[first - 1..last - 1].join.chomp

      # @return [Array<Edit>, String, nil] a line to add; nil where code computes it
      def setting(wanted)
        calls = calls(wanted.name)
        return wanted.text if calls.empty?
        edits(wanted).tap { |found| @left << wanted.text unless found }
      end

      def calls(name) = all(Prism::CallNode).select { |node| node.receiver.nil? && node.name == name }

      # @return [String, nil] what is not there yet
      def code(wanted)
        wanted.text unless (PumaFile.new(wanted.text).statement_texts - statement_texts).empty?
      end

      # @return [Array<Edit>, nil] nil where several calls decide, or an argument is nothing that can be changed
      def edits(wanted)
        call, *others = calls(wanted.name)
        return unless call && others.empty? && statements.include?(call)
        given = call.arguments&.arguments.to_a
        return switch(given.first) if wanted.arguments.empty?
        given *= wanted.arguments.size if given.size == 1
        places = given.map { |node| place(node) }
        return unless places.size == wanted.arguments.size && places.all?
        pairs = places.zip(wanted.arguments.map(&:slice)).uniq { |found, text| [found.location.start_offset, text] }
        return if pairs.uniq { |found, _| found.location.start_offset }.size < pairs.size
        pairs.filter_map { |found, text| changed(found, text) }
      end

      # Of preload_app!, which has no argument or a switch.
      def switch(argument)
        case argument
        when nil, Prism::TrueNode then []
        when Prism::FalseNode then [Edit.new(argument.location, "true")]
        end
      end

      def changed(place, text)
        @variables[place.variable] = text if place.variable
        Edit.new(place.location, text) unless place.text == text
      end

      # @return [Place, nil] of the number that an expression comes to where nothing of the environment goes before it
      def place(node, variable = nil)
        case node
        when Prism::IntegerNode, Prism::SymbolNode then Place.new(node.location, node.slice, variable)
        when Prism::StringNode
          Place.new(node.content_loc, node.unescaped, variable) if node.unescaped.match?(/\A\d+\z/)
        when Prism::LocalVariableReadNode then place_of_local(node.name, variable)
        when Prism::OrNode then place(node.right, variable_of(node.left)) if variable_of(node.left)
        when Prism::ParenthesesNode, Prism::StatementsNode, Prism::BlockNode then place(only(node), variable)
        when Prism::CallNode then place_in_call(node, variable)
        end
      end

      def only(node)
        body = node.is_a?(Prism::StatementsNode) ? node.body : [node.body].compact
        body.first if body.one?
      end

      # `ENV.fetch("NAME", 3)`, `ENV.fetch("NAME") { 3 }`, and conversions around any of them.
      def place_in_call(node, variable)
        arguments = node.arguments&.arguments.to_a
        if node.name == :fetch && env?(node.receiver) && arguments.first.is_a?(Prism::StringNode)
          place(arguments[1] || node.block, arguments.first.unescaped)
        elsif node.name == :to_i && arguments.empty? then place(node.receiver, variable)
        elsif node.name == :Integer && node.receiver.nil? && arguments.one? then place(arguments.first, variable)
        end
      end

      # "NAME" of `ENV["NAME"]`
      def variable_of(node)
        return unless node.is_a?(Prism::CallNode) && node.name == :[] && env?(node.receiver)
        node.arguments&.arguments&.first.then { |name| name.unescaped if name.is_a?(Prism::StringNode) }
      end

      def env?(node) = node.is_a?(Prism::ConstantReadNode) && node.name == :ENV

      # A variable that is set once, on the top level, and that only the number of threads is made of: what means
      # something else, too, must not be changed.
      def place_of_local(name, variable)
        writes = all(Prism::LocalVariableWriteNode).select { |node| node.name == name }
        return unless writes.one? && statements.include?(writes.first) && all_reads_known?(name)
        changes = all(Prism::LocalVariableOperatorWriteNode, Prism::LocalVariableOrWriteNode)
        return if changes.any? { |node| node.name == name }
        place(writes.first.value, variable)
      end

      def all_reads_known?(name)
        known = statements.select { |node| setting_of(node) == :threads || node.is_a?(Prism::LocalVariableWriteNode) }
        reads(name, statements) == reads(name, known)
      end

      def reads(name, nodes)
        nodes.sum { |node| within(node, [Prism::LocalVariableReadNode]).count { |one| one.name == name } }
      end

      def all(*kinds) = within(@parsed.value, kinds)

      def within(node, kinds)
        [*(node if kinds.include?(node.class)), *node.compact_child_nodes.flat_map { |child| within(child, kinds) }]
      end

      def edited(edits, added, comment)
        bytes = @source.b
        at = @parsed.data_loc&.start_offset || bytes.bytesize
        if added.any?
          gap = (at.zero? || bytes[0...at].end_with?("\n\n")) ? "" : "\n"
          gap = "\n#{gap}" unless at.zero? || bytes[0...at].end_with?("\n")
          bytes.insert(at, "#{gap}# #{comment}\n#{added.join("\n")}\n".b)
        end
        edits.uniq.sort_by { |edit| -edit.location.start_offset }.each do |edit|
          bytes[edit.location.start_offset...edit.location.end_offset] = edit.text.b
        end
        bytes.force_encoding(@source.encoding)
      end
    end
  end
end
