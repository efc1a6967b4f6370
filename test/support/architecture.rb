# frozen_string_literal: true

require "prism"

# Which folder of ours names constants of which other one, by Ruby's own rules: a name means the innermost definition
# around it.
class Architecture
  # A name where it is used. written: as it stands there; nesting: modules around it, innermost first; at: file and line
  Use = Data.define(:written, :nesting, :at)

  # What one file defines and uses.
  class Names < Prism::Visitor
    # @return [Array<String>] full names of its modules, classes and constants
    attr_reader :definitions

    # @return [Array<Use>]
    attr_reader :uses

    # @param path [String] of the file
    def initialize(path)
      @path = path
      @definitions = []
      @uses = []
      @nesting = []
      super()
    end

    def visit_module_node(node) = inside(node)

    def visit_class_node(node)
      node.superclass&.accept(self)
      inside(node)
    end

    def visit_constant_write_node(node)
      @definitions << [*@nesting.first, node.name].join("::")
      super
    end

    def visit_constant_path_node(node)
      use(node.full_name, node)
    rescue Prism::ConstantPathNode::DynamicPartsInConstantPathError
      super
    end

    def visit_constant_read_node(node) = use(node.name.to_s, node)

    private

    def inside(node)
      name = [*@nesting.first, node.constant_path.full_name].join("::")
      @definitions << name
      @nesting.unshift(name)
      node.body&.accept(self)
      @nesting.shift
    end

    def use(written, node)
      @uses << Use.new(written:, nesting: @nesting.dup, at: "#{@path}:#{node.location.start_line}")
    end
  end

  # @param files [Hash{String => String}] path => folder
  def initialize(files)
    @files = files
    @names = files.keys.to_h do |path|
      [path, Names.new(path).tap { |names| Prism.parse_file(path).value.accept(names) }]
    end
  end

  # @return [Hash{String => Hash{String => Array<String>}}] folder => folders that it names => where
  def uses
    found = Hash.new { |all, folder| all[folder] = Hash.new { |homes, home| homes[home] = [] } }
    @files.each do |path, folder|
      @names[path].uses.each do |use|
        home = home_of(use)
        found[folder][home] << "#{use.at} #{use.written}" if home && home != folder
      end
    end
    found
  end

  private

  # @return [String, nil] the folder; nil of what is not ours
  def home_of(use)
    written = use.written.delete_prefix("::")
    scopes = use.written.start_with?("::") ? [nil] : [*use.nesting, nil]
    first = written[/\w+/]
    scope = scopes.find { |outer| homes.key?([*outer, first].join("::")) }
    known = [*scope, written].join("::")
    known = known[/\A.*(?=::)/] until known.nil? || homes.key?(known)
    homes[known] unless known == "PumaTuner" # which all of it is
  end

  # A module is opened in many files, and is at home in the one that stands highest.
  def homes
    @homes ||= @names.sort_by { |path, _| [path.count("/"), path] }.each_with_object({}) do |(path, names), all|
      names.definitions.each { |name| all[name] ||= @files[path] }
    end
  end
end
