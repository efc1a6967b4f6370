# frozen_string_literal: true

require "psych"

module PumaTuner
  module Advise
    # A database.yml as text: which sizes of pools one environment has, by itself or by an anchor that it merges. What
    # ERB computes is text here, and a file that is no YAML without it has none.
    class DatabaseYml
      # Rails 8.1 calls it max_connections, and knows this name, too. It does not start where both have other numbers.
      OLD_KEY = "pool"

      # YAML counts lines by more than line feeds.
      LINE = /[^\n\r\u0085\u2028\u2029]*(?:\r\n|[\n\r\u0085\u2028\u2029]|\z)/
      private_constant :LINE

      # @param yaml [String]
      # @param environment [String, nil] of Rails; nil: all of the file counts
      def initialize(yaml, environment:)
        @yaml = yaml
        @environment = environment
      end

      # @param wanted [String] how that Rails calls it
      # @return [String] how the file does
      def key(wanted) = (nodes(wanted).empty? && nodes(OLD_KEY).any?) ? OLD_KEY : wanted

      # @return [Array<String>] each size that stands there, in the order of the file; where other places of the file
      #   may refer to it, or it is no word of one line, the rest of its line and an ellipsis
      def sizes(key)
        nodes(key).map do |node|
          plain?(node) ? node.value : "#{lines[node.start_line][node.start_column..].strip}…"
        end
      end

      # @param value [String]
      # @return [String] the text with that in the place of its only size
      def with(key, value)
        node = nodes(key).first
        changed = lines
        line = changed[node.start_line]
        changed[node.start_line] = line[0...node.start_column] + value + line[node.end_column..]
        changed.join
      end

      private

      def lines = @yaml.scan(LINE)

      # An anchor, a tag, or a number that goes on in the next line would be lost or left half.
      def plain?(node) = node.anchor.nil? && node.tag.nil? && node.start_line == node.end_line

      def nodes(key)
        stream = Psych.parse_stream(@yaml)
        anchors = stream.grep(Psych::Nodes::Mapping).to_h { |mapping| [mapping.anchor, mapping] }
        root = stream.children.first&.root
        found(@environment ? pairs(root)[@environment] : root, key, anchors).uniq
      rescue Psych::SyntaxError, SystemStackError
        [] # with ERB between the lines, or too deeply nested
      end

      # What a mapping has itself goes before what it merges. What is merged once more holds nothing new, and of thirty
      # anchors that each merge the one before twice the search would never end.
      def found(node, key, anchors)
        case node
        when Psych::Nodes::Alias then found(anchors.delete(node.anchor), key, anchors)
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
