# frozen_string_literal: true

require "psych"

module PumaTuner
  module Advise
    # A database.yml as text: which sizes of pools one environment has, by itself or by an anchor that it merges. What
    # ERB computes is text here, and a file that is no YAML without it has none.
    class DatabaseYml
      # Rails 8.1 calls it max_connections, and knows this name, too. It does not start where both have other numbers.
      OLD_KEY = "pool"

      # @param yaml [String]
      # @param environment [String, nil] of Rails; nil: all of the file counts
      def initialize(yaml, environment:)
        @yaml = yaml
        @environment = environment
      end

      # @param wanted [String] how that Rails calls it
      # @return [String] how the file does
      def key(wanted) = (nodes(wanted).empty? && nodes(OLD_KEY).any?) ? OLD_KEY : wanted

      # @return [Array<String>] each size that stands there, in the order of the file
      def sizes(key) = nodes(key).map(&:value)

      # @param value [String]
      # @return [String] the text with that in the place of its only size
      def with(key, value)
        node = nodes(key).first
        lines = @yaml.lines
        line = lines[node.start_line]
        lines[node.start_line] = line[0...node.start_column] + value + line[node.end_column..]
        lines.join
      end

      private

      def nodes(key)
        stream = Psych.parse_stream(@yaml)
        anchors = stream.grep(Psych::Nodes::Mapping).to_h { |mapping| [mapping.anchor, mapping] }
        root = stream.children.first&.root
        found(@environment ? pairs(root)[@environment] : root, key, anchors).uniq
      rescue Psych::SyntaxError, SystemStackError
        [] # with ERB between the lines, or with an anchor within itself
      end

      # What a mapping has itself goes before what it merges.
      def found(node, key, anchors)
        case node
        when Psych::Nodes::Alias then found(anchors[node.anchor], key, anchors)
        when Psych::Nodes::Sequence then node.children.flat_map { |child| found(child, key, anchors) }
        when Psych::Nodes::Mapping
          all = pairs(node)
          own = all.delete(key)
          all.delete("<<") if own
          [*(own if own.is_a?(Psych::Nodes::Scalar)), *all.values.flat_map { |child| found(child, key, anchors) }]
        else []
        end
      end

      # @return [Hash{String => Psych::Nodes::Node}]
      def pairs(node)
        return {} unless node.is_a?(Psych::Nodes::Mapping)
        node.children.each_slice(2).to_h { |name, value| [(name.value if name.is_a?(Psych::Nodes::Scalar)), value] }
      end
    end
  end
end
