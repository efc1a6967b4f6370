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

      # A single process runs none of these hooks: they are a master's, or its workers'.
      HOOKS_OF_WORKERS = %i[before_fork before_worker_fork on_worker_fork after_worker_fork before_worker_boot
        on_worker_boot after_worker_boot before_worker_shutdown on_worker_shutdown after_worker_shutdown before_refork
        on_refork after_refork].freeze

      # Ruby takes each of these bytes for the end of a file, outside of comments and texts.
      ENDING = /[\0\x04\x1A]/n
      private_constant :ENDING

      # source: the text with the lines; left: Array<String>, the lines that code stands in the way of
      # variables: Hash{String => String}, those of the environment whose defaults were changed, with their new values
      Edited = Data.define(:source, :left, :variables)

      # One line or more of advice. name: of a setting, nil of other code; arguments: its nodes
      Wanted = Data.define(:name, :arguments, :text)

      # A number in the file. location: a Prism::Location; variables: of the environment that go before it
      Place = Data.define(:location, :text, :variables)
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

      # @return [Boolean] whether it is Ruby, and all of it is read
      def ruby? = @parsed.errors.empty? && !@source.b.match?(ENDING)

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
          call = call_of(group.first)
          text = lines_of(group.first.location.start_line, group.last.location.end_line)
          Wanted.new(name: call&.name, arguments: call&.arguments&.arguments.to_a, text:)
        end
      end

      # @param line [String] a setting
      # @return [Integer, nil] how many numbers of this file it changes, of which a word such as :auto is none; nil
      #   where nothing that can be changed sets it
      def changes_count(line)
        @variables = {}
        edits(PumaFile.new(line).wanted.first)&.count { |edit| edit.location.slice.match?(/\A\d/) }
      end

      # @return [Array<String>] hooks that it has and a single process does not run
      def hooks_of_workers
        all(Prism::CallNode).select { |node| node.receiver.nil? && HOOKS_OF_WORKERS.include?(node.name) }
          .map { |node| node.name.to_s }.uniq
      end

      # @return [Array<String>] of each statement, whatever its white space
      def statement_texts = statements.map { |node| node.slice.scrub.split.join(" ") }

      private

      # In the place of what stands at location.
      Edit = Data.define(:location, :text)
      private_constant :Edit

      def statements = @parsed.value.statements.body

      def setting_of(node) = call_of(node)&.name

      # @return [Prism::CallNode, nil] of a setting, which may be a plugin's: `x :y if respond_to?(:x)`
      def call_of(node)
        call = node.is_a?(Prism::IfNode) ? node.statements&.body&.first : node
        return unless call.is_a?(Prism::CallNode) && call.receiver.nil? && call.block.nil?
        call if SETTINGS.include?(call.name) && (call == node || node.slice == guarded(call))
      end

      def guarded(call) = "#{call.slice} if respond_to?(:#{call.name})"

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
        return unless call && others.empty? && statements.any? { |node| call_of(node) == call }
        given = call.arguments&.arguments.to_a
        return switch(given.first) if wanted.arguments.empty?
        given *= wanted.arguments.size if given.size == 1
        return unless given.size == wanted.arguments.size # asked first, as each place is looked for in the whole file
        places = given.map { |node| place(node) }
        return unless places.all?
        pairs = places.zip(wanted.arguments.map(&:slice)).uniq { |found, text| [found.location.start_offset, text] }
        return if pairs.uniq { |found, _| found.location.start_offset }.size < pairs.size || contradicting?(pairs)
        pairs.filter_map { |found, text| changed(found, text) }
      end

      # Of preload_app!, which has no argument or a switch.
      def switch(argument)
        case argument
        when nil, Prism::TrueNode then []
        when Prism::FalseNode then [Edit.new(argument.location, "true")]
        end
      end

      # One variable can't be both the number of workers and another one of threads.
      def contradicting?(pairs)
        pairs.any? { |found, text| found.variables.any? { |name| @variables.fetch(name, text) != text } }
      end

      def changed(place, text)
        place.variables.each { |name| @variables[name] = text }
        Edit.new(place.location, text) unless place.text == text
      end

      # @param variables [Array<String>] of the environment that go before the expression
      # @return [Place, nil] of the number that it comes to where none of them is set
      def place(node, variables = [])
        case node
        when Prism::IntegerNode, Prism::SymbolNode then Place.new(node.location, node.slice, variables)
        when Prism::StringNode
          Place.new(node.content_loc, node.unescaped, variables) if node.unescaped.match?(/\A\d+\z/)
        when Prism::LocalVariableReadNode then place_of_local(node.name, variables)
        when Prism::OrNode
          variable_of(node.left)&.then { |name| place(node.right, [*variables, name]) }
        when Prism::ParenthesesNode, Prism::StatementsNode, Prism::BlockNode then place(only(node), variables)
        when Prism::CallNode then place_in_call(node, variables)
        end
      end

      def only(node)
        body = node.is_a?(Prism::StatementsNode) ? node.body : [node.body].compact
        body.first if body.one?
      end

      # `ENV.fetch("NAME", 3)`, `ENV.fetch("NAME") { 3 }`, and conversions around any of them.
      def place_in_call(node, variables)
        arguments = node.arguments&.arguments.to_a
        if node.name == :fetch && env?(node.receiver) && arguments.first.is_a?(Prism::StringNode)
          place(arguments[1] || node.block, [*variables, arguments.first.unescaped])
        elsif node.name == :to_i && arguments.empty? then place(node.receiver, variables)
        elsif node.name == :Integer && node.receiver.nil? && arguments.one? then place(arguments.first, variables)
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
      def place_of_local(name, variables)
        writes = all(Prism::LocalVariableWriteNode).select { |node| node.name == name }
        return unless writes.one? && statements.include?(writes.first) && all_reads_known?(name)
        changes = all(Prism::LocalVariableOperatorWriteNode, Prism::LocalVariableOrWriteNode)
        return if changes.any? { |node| node.name == name }
        place(writes.first.value, variables)
      end

      # Also of the variables that it goes into, each of which is set below it.
      def all_reads_known?(name, among = statements)
        known = among.each_with_index.select do |node, index|
          next setting_of(node) == :threads unless node.is_a?(Prism::LocalVariableWriteNode)
          reads(name, [node]).zero? || all_reads_known?(node.name, among.drop(index + 1))
        end
        reads(name, among) == reads(name, known.map(&:first))
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
          gap = (at.zero? || bytes[0...at].match?(/\n\r?\n\z/)) ? "" : "\n"
          gap = "\n#{gap}" unless at.zero? || bytes[0...at].end_with?("\n")
          text = "#{gap}# #{comment}\n#{added.join("\n")}\n"
          bytes.insert(at, (bytes.include?("\r\n") ? text.gsub("\n", "\r\n") : text).b)
        end
        edits.uniq.sort_by { |edit| -edit.location.start_offset }.each do |edit|
          bytes[edit.location.start_offset...edit.location.end_offset] = edit.text.b
        end
        bytes.force_encoding(@source.encoding)
      end
    end
  end
end
