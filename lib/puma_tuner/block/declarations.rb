# frozen_string_literal: true

module PumaTuner
  module Block
    # Collects what a block file declares: `block("name") { … }` at its top level, once or several times.
    class Declarations
      # line: in the file
      Declaration = Data.define(:name, :body, :line)

      # The only block of a file needs no name.
      DEFAULT_NAME = "block"

      # @return [Array<Declaration>]
      attr_reader :all

      # Runs the file as Ruby would run a script, with `block` known at its top level and nowhere else.
      # @param file [String] absolute
      # @return [Declarations]
      def self.of(file)
        declarations = new
        TOPLEVEL_BINDING.receiver.define_singleton_method(:block) do |name = DEFAULT_NAME, &body|
          declarations.add(name.to_s, body, caller_locations(1, 1).first.lineno)
        end
        Kernel.load(file)
        declarations
      end

      def initialize
        @all = []
      end

      # @raise [UsageError]
      def add(name, body, line)
        raise UsageError, "block(#{name.inspect}) has nothing to run; write: block(#{name.inspect}) { … }" unless body
        if (first = @all.find { |declaration| declaration.name == name })
          raise UsageError, "two blocks are called #{name.inspect}, " \
            "in lines #{first.line} and #{line}; give each its own name"
        end
        @all << Declaration.new(name:, body:, line:)
      end

      # @param name [String, nil] nil: the only one
      # @return [Declaration]
      # @raise [UsageError]
      def find(name)
        raise UsageError, "there is no block in it; write: block(\"name\") { … }" if @all.empty?
        return @all.first if name.nil? && @all.one?
        found = @all.find { |declaration| declaration.name == name }
        return found if found
        problem = name ? "there is no block #{name.inspect}" : "it has several blocks, and none was chosen"
        raise UsageError, "#{problem}; the file declares " \
          "#{@all.map { |declaration| declaration.name.inspect }.join(", ")}"
      end
    end
  end
end
