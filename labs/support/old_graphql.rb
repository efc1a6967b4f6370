# frozen_string_literal: true

# Loads versions of graphql that are older than the Ruby they run on: while a file is loaded, the few lines that Ruby has
# outlawed since are written anew. Nothing is wrapped, and no method is called that was not called then, so what is measured
# afterwards is the old code. Most of what broke is Ruby 3's separation of keyword arguments from hashes.
#
# RubyVM::InstructionSequence.load_iseq is Ruby's own hook for this; Bootsnap uses it, too, and must not be loaded.
#
#     LabGems.activate("graphql" => "1.3.0")
#     require_relative "../support/old_graphql"
#     OldGraphql.prepare
#     require "graphql"
#
# A checkout of a commit between two releases (OldGraphql.prepare_checkout) has some of the lines of either.
module OldGraphql
  # One line that can't stay as it is.
  #
  # versions: of graphql, as RubyGems writes requirements; file: under its lib/graphql; pattern: must be found in it
  # because: what Ruby does to the line
  Edit = Data.define(:versions, :file, :pattern, :replacement, :because) do
    def for?(version) = Gem::Requirement.new(*versions).satisfied_by?(version)
  end

  KEYWORDS = "a hash is no longer taken for keywords (Ruby 3.0)"
  FLAGGED = "keywords that go through *args must be flagged (Ruby 3.0)"
  NO_BLOCK = "Proc.new no longer takes the method's block (Ruby 3.0)"

  EDITS = [
    Edit.new(["< 1.9"], "define/assign_object_field.rb", /(Field\.define|base_field\.redefine)\(kwargs/, '\1(**kwargs', KEYWORDS),
    Edit.new([">= 1.8", "< 1.9"], "argument.rb", /(Argument\.define|redefine)\(kwargs/, '\1(**kwargs', KEYWORDS),
    Edit.new(["< 1.9"], "language/nodes.rb", "initialize_node(options)\n", "initialize_node(**options)\n", KEYWORDS),
    Edit.new(["< 1.10"], "define/defined_object_proxy.rb", /(ruby2_keywords\s+)?def method_missing/, "ruby2_keywords def method_missing", FLAGGED),
    Edit.new([">= 1.9", "< 1.10"], "define/instance_definable.rb", /ruby2_keywords\s+def /, "ruby2_keywords def ", FLAGGED),
    Edit.new(["< 1.6"], "schema.rb", "def execute(*args)", "ruby2_keywords def execute(*args)", FLAGGED),
    Edit.new([">= 1.5", "< 1.6"], "internal_representation/visit.rb", /def each_node\(node\)(.+?)visit_block = Proc\.new\n/m, "def each_node(node, &visit_block)\\1\n", NO_BLOCK),
    Edit.new([">= 1.6", "< 1.9"], "execution/multiplex.rb", "Query.new(schema, nil, opts)", "Query.new(schema, nil, **opts)", KEYWORDS),
    Edit.new([">= 1.6", "< 1.9"], "execution/multiplex.rb", "def run_all(", "ruby2_keywords def run_all(", FLAGGED),
    Edit.new([">= 1.8", "< 1.9"], "schema/mutation.rb", "def field(*args", "ruby2_keywords def field(*args", FLAGGED),
    Edit.new([">= 1.7", "< 1.9"], "execution/multiplex.rb", "{ multiplex: multiplex }", "multiplex: multiplex", KEYWORDS),
    Edit.new([">= 1.7", "< 1.9"], "execution/execute.rb", "{query: query}", "query: query", KEYWORDS),
    Edit.new([">= 1.8", "< 1.12.18"], "deprecated_dsl.rb", /(refine .+ do\s+)include Methods/, '\1import_methods Methods', "a refinement no longer includes modules (Ruby 3.2)"),
    Edit.new([">= 1.8", "< 1.13"], "schema/interface.rb", "in `implements'", "implements'", "backtraces name the class, too, and quote otherwise (Ruby 3.4)")
  ].freeze

  # Called by Ruby for each file that it is about to load; nil: as usual.
  module Rewriting
    def load_iseq(path)
      edits = OldGraphql.edits_of(path) or return (super if defined?(super))
      compile(OldGraphql.rewritten(path, edits), path, path)
    end
  end

  class << self
    # Before graphql is loaded; does nothing for versions that load as they are.
    def prepare
      specification = Gem.loaded_specs.fetch("graphql")
      rewrite(EDITS.select { |edit| edit.for?(specification.version) }, specification.full_gem_path)
    end

    # The same of a commit: edits of the release before it and of the one after it, as far as its lines need them.
    #
    # @param folder [String] of a checkout, put on $LOAD_PATH and known to RubyGems by its version and commit
    # @param commit [String]
    def prepare_checkout(folder, commit)
      release = Gem::Version.new(File.read(File.join(folder, "lib/graphql/version.rb"))[/VERSION = "(.+)"/, 1])
      Gem.loaded_specs["graphql"] = Gem::Specification.new("graphql", "#{release}.at.#{commit[0, 12]}")
      $LOAD_PATH.unshift(File.join(folder, "lib"))
      @between = true
      rewrite(EDITS.select { |edit| [release, release.bump].any? { |version| edit.for?(version) } }, folder)
    end

    # @param path [String] of a file that is about to be loaded
    # @return [Array<Edit>, nil]
    def edits_of(path) = @edits[path]

    # @return [String] what is loaded in its place
    def rewritten(path, edits)
      edits.inject(File.read(path, encoding: "UTF-8")) do |source, edit|
        pattern = Regexp.union(edit.pattern)
        source.match?(pattern) or @between or abort("#{path} has nothing like #{pattern.inspect}; this version was never tried")
        source.gsub(pattern, edit.replacement)
      end
    end

    private

    def rewrite(edits, folder)
      @edits = edits.group_by { |edit| File.join(folder, "lib/graphql", edit.file) }
      return if @edits.empty?
      require "ostruct" # old versions take it for loaded
      RubyVM::InstructionSequence.singleton_class.prepend(Rewriting)
    end
  end
end
