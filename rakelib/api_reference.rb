# frozen_string_literal: true

require "puma_tuner"
require_relative "yard_documents"

# The documentation that stands in comments: what is missing in it, and the page that it makes of the public API.
class ApiReference
  PAGE = "docs/reference/api.md"

  HEAD = <<~MARKDOWN
    # API

    This page lists all that a program of yours may call or read. `rake docs:api_list` writes it from the comments in
    the code, and `rake docs:api` makes whole pages of them, below `doc/`. All else is private, and may change at any
    time.

    Until 1.0, public API changes with a minor version only, and the changelog says how. A document that an earlier
    version has written can be read as long as its schema's version stays the same. The types are in `sig/` of both
    gems (RBS). In names, `_ns` is nanoseconds, `_s` seconds, `_bytes` bytes, `_ratio` a share or a quotient (0.25, never
    25), `_per_s` a rate per second, `_count` a number of things. A value that is unknown is nil.

    Puma's two plugins are public, too: `plugin :puma_tuner` and `plugin :puma_tuner_exporter`.
  MARKDOWN

  # Methods that mean the same in every class: of Ruby's own, and how documents are read and written.
  USUAL = %i[initialize to_s + - == from_document to_document].freeze

  # Parses the comments.
  #
  # @param files [Array<String>] paths and patterns; those that YARD is told of
  # @param names [Array<String>] of the public API
  def initialize(files = File.readlines(".yardopts", chomp: true).grep(/\*\.rb\z/), names: PublicApi::NAMES)
    @names = names
    told, YARD::Logger.instance.io = YARD::Logger.instance.io, StringIO.new
    YARD.parse(files)
    @warnings = YARD::Logger.instance.io.string.split(/^\[(?:warn|error)\]: /).drop(1)
  ensure
    YARD::Logger.instance.io = told
  end

  # @return [Array<String>] what is missing or wrong, each with its place
  def faults
    unknown = @names.reject { |name| YARD::Registry.at(name) }
    [*@warnings.map { |text| text.strip.tr("\n", " ").squeeze(" ") },
      *unknown.map { |name| "#{name} is in the list of the public API, and nowhere else" },
      *bare.map { |object| "#{object.path} has no comment #{place(object)}" }, *methods.flat_map { |method| faults_of(method) }]
  end

  # @return [String] Markdown
  def page
    [HEAD, *PublicApi::LIST.map { |heading, names| section(heading, names.map { |name| YARD::Registry.at(name) }) }].join("\n")
  end

  # @return [Array<YARD::CodeObjects::MethodObject>] of the public API, without the fields of documents
  def methods
    @methods ||= YARD::Registry.all(:method).select do |method|
      PublicApi.include?(method, @names) && !method.is_alias? && !(data?(method.namespace) && (method.is_attribute? || USUAL.include?(method.name)))
    end
  end

  private

  # Classes and modules without any comment, private ones as well; and such methods of the public API.
  def bare = [*YARD::Registry.all(:class, :module), *methods].select { |object| object.file && bare?(object) && !told_by_parent?(object) }

  def bare?(object) = object.docstring.to_s.empty? && (object.tags.map(&:tag_name) - ["api"]).empty?

  def told_by_parent?(object)
    return false unless object.is_a?(YARD::CodeObjects::MethodObject)
    return true if USUAL.include?(object.name)
    overridden = object.overridden_method
    overridden.is_a?(YARD::CodeObjects::MethodObject) && !bare?(overridden)
  end

  def data?(namespace) = namespace.type == :class && namespace.superclass.to_s == "Data"

  def place(object) = "(#{object.file}:#{object.line})"

  def faults_of(method)
    return [] if bare?(method)
    described = method.tags(:param).map(&:name)
    named = method.parameters.map(&:first).grep_v(/\A(&|\*\*|\.\.\.)/).map { |name| name.delete(":*") }
    made = method.name == :initialize
    untyped = (method.tags(:param) + (made ? [] : method.tags(:return))).reject(&:types)
    [*(named - described).map { |name| "#{method.path} has no @param #{name} #{place(method)}" },
      *("#{method.path} has no @return #{place(method)}" unless made || method.has_tag?(:return)),
      *untyped.map { |tag| "#{method.path}: @#{tag.tag_name} #{tag.name} has no type #{place(method)}" }]
  end

  def section(heading, objects)
    lone, namespaces = objects.partition { |object| object.is_a?(YARD::CodeObjects::MethodObject) }
    ["## #{heading}\n", *("#{lone.map { |method| line(method) }.join("\n")}\n" if lone.any?), *namespaces.map { |object| entry(object) }].join("\n")
  end

  def entry(object)
    fields = data?(object) ? Object.const_get(object.path).members : []
    lines = methods.select { |method| method.namespace == object && !bare?(method) }.map { |method| line(method) }
    ["### #{object.path}\n", "#{object.docstring.summary.sub(/:\.\z/, ".")}\n",
      *("Fields: #{fields.map { |name| "`#{name}`" }.join(", ")}.\n" if fields.any?), *("#{lines.join("\n")}\n" if lines.any?)].join("\n")
  end

  # @return [String] "- `PumaTuner::Topology.parse(text)` → Topology: …"
  def line(method)
    parameters = method.parameters.map { |name, default| (default && !name.end_with?(":")) ? "#{name} = #{default}" : [name, default].compact.join(" ") }
    call = (method.name == :initialize) ? "#{method.namespace.path}.new" : method.path
    told = method.tag(:return) unless method.name == :initialize
    types = " → #{told.types.join(", ")}" if told && told.types != ["void"]
    text = method.docstring.summary if method.name != :initialize
    text = "returns #{told.text}" if text.to_s.empty? && !told&.text.to_s.empty?
    ["- `#{call}#{"(#{parameters.join(", ")})" if parameters.any?}`#{types}", *(text unless text.to_s.empty?)].join(": ").tr("\n", " ")
  end
end
