# frozen_string_literal: true

require_relative "api_reference"

# The signatures (RBS) of the public API: one file for each gem, made of the types in the comments. A document's comment
# has no types of its fields; those stand in the files themselves, and are kept when these are written anew.
class Signatures
  FILES = {"probe/" => "probe/sig/puma_tuner-probe.rbs", "" => "sig/puma_tuner.rbs"}.freeze

  HEAD = "# The types of the public API. `rake sig` writes all but the types of fields, which are to be written here.\n"

  # By how a field's name ends, until somebody writes another type.
  USUAL_TYPES = {/_(ns|count|bytes|ms|us)\z/ => "Integer?", /_ratio\z/ => "Float?", /_per_s\z/ => "Numeric?", /_at\z/ => "String?"}.freeze

  # Constructors that take some of the fields, and fill in the others.
  FILLED = {"PumaTuner::Probe::Budget" => ->(klass) { klass.members - [:wall_ns] },
            "PumaTuner::Load::Outcome" => ->(klass) { [*klass::OWN.keys, :remarks] }}.freeze

  # Of Ruby's own.
  CORE = %w[String Symbol Integer Float Numeric Proc IO Data Random Method].freeze

  # @param reference [ApiReference]
  # @param kept [Hash{String => String}] path of each file => its text, whose types of fields are kept
  def initialize(reference = ApiReference.new, kept: FILES.values.to_h { |path| [path, File.exist?(path) ? File.read(path) : ""] })
    @methods = reference.methods.group_by(&:namespace)
    @field_types = kept.values.join.scan(/^class ([\w:]+).*\n((?:  .*\n)*)/).to_h do |name, lines|
      [name, lines.scan(/^  attr_reader (\w+): (.+)$/).to_h]
    end
  end

  # @return [Hash{String => String}] text by path
  def texts
    FILES.to_h do |place, path|
      here = namespaces.select { |namespace| home?(place, namespace) || methods(place, namespace).any? }
      outer = here.flat_map { |namespace| around(namespace.namespace) }.uniq - here
      outer -= namespaces.flat_map { |namespace| around(namespace) }.select { |namespace| home?("probe/", namespace) } if place.empty?
      [path, [HEAD, *outer.map { |namespace| "#{namespace.type} #{namespace.path}\nend\n" }, *here.map { |namespace| declaration(place, namespace) }].join("\n")]
    end
  end

  # @return [Array<String>] paths of files that are not as they would be written
  def stale = texts.reject { |path, text| File.exist?(path) && File.read(path) == text }.keys

  private

  # @return [Array<YARD::CodeObjects::NamespaceObject>] whose methods or fields are public, in the order of the list
  def namespaces
    @namespaces ||= PublicApi::NAMES.map { |name| YARD::Registry.at(name) }
      .map { |object| object.is_a?(YARD::CodeObjects::MethodObject) ? object.namespace : object }.uniq
  end

  # Modules have parts in both gems; what belongs to the probe is named by it first.
  def home?(place, namespace) = namespace.files.any? { |path, _| path.start_with?("probe/") } == (place == "probe/")

  def methods(place, namespace) = @methods.fetch(namespace, []).select { |method| method.file.start_with?("probe/") == (place == "probe/") }

  # @return [Array] it and what is around it, the outermost first
  def around(namespace) = (namespace.nil? || namespace.root?) ? [] : [*around(namespace.namespace), namespace]

  def declaration(place, namespace)
    methods = methods(place, namespace).map { |method| "  #{signature(method)}\n" }
    klass = Object.const_get(namespace.path) if namespace.type == :class && namespace.superclass.to_s == "Data"
    above = " < #{klass ? "Data" : superclass(namespace)}" if namespace.type == :class && (klass || superclass(namespace))
    ["#{namespace.type} #{namespace.path}#{above}\n", *(data(namespace.path, klass) if klass), *methods, "end\n"].join
  end

  def superclass(namespace)
    path = namespace.superclass&.path
    path if path && (PublicApi::NAMES.include?(path) || path == "StandardError")
  end

  # @return [Array<String>] fields and constructor of a class of values
  def data(path, klass)
    types = klass.members.to_h { |field| [field, type_of_field(path, klass, field)] }
    optional = klass.instance_method(:initialize).parameters.filter_map { |kind, name| name if kind == :key }
    optional |= klass::ADDED if klass.include?(PumaTuner::Document::Filling)
    optional |= FILLED.fetch(path).call(klass) if FILLED.key?(path)
    keywords = types.map { |field, type| optional.include?(field) ? "?#{field}: #{type.sub(/(?<!\?|\Auntyped)\z/, "?")}" : "#{field}: #{type}" }
    document = ["def self.from_document: (untyped fields) -> instance", "def to_document: () -> Hash[Symbol, untyped]"] if klass.const_defined?(:NESTED)
    sums = %i[+ -].select { |name| klass.method_defined?(name, false) }.map { |name| "def #{name}: (instance other) -> instance" }
    [*types.map { |field, type| "attr_reader #{field}: #{type}" }, "def initialize: (#{keywords.join(", ")}) -> void", "def with: (**untyped fields) -> instance",
      *document, *sums].map { |line| "  #{line}\n" }
  end

  # The class itself knows which values its fields hold; whether one may be nil, the file does.
  def type_of_field(path, klass, field)
    written = @field_types.dig(path, field.to_s)
    held = held(klass, field)
    return written || usual(klass, field) unless held
    never_nil = written ? !written.end_with?("?") : held.match?(/\A(Array|Hash)\[/)
    never_nil ? held : "#{held}?"
  end

  def usual(klass, field)
    return "Symbol" if klass.const_defined?(:SYMBOLS) && klass::SYMBOLS.include?(field)
    USUAL_TYPES.find { |ending, _| field.match?(ending) }&.last || "untyped"
  end

  # @return [String, nil] type of what a document of that class is read with
  def held(klass, field)
    return unless klass.const_defined?(:NESTED)
    known = ->(value) { (value.is_a?(Class) && PublicApi::NAMES.include?(value.name)) ? "::#{value.name}" : "untyped" }
    case nested = klass::NESTED[field]
    when nil then nil
    when Array then "Array[#{known.call(nested.first)}]"
    when Hash then "Hash[String, #{known.call(nested.fetch(String))}]"
    else known.call(nested).then { |name| name unless name == "untyped" }
    end
  end

  def signature(method)
    return "attr_reader #{method.name}: #{returned(method)}" if method.is_attribute?
    "def #{"self." if method.scope == :class}#{method.name}: (#{parameters(method).join(", ")})#{block(method)} -> #{(method.name == :initialize) ? "void" : returned(method)}"
  end

  def returned(method) = method.tag(:return)&.then { |tag| union(tag.types, method.namespace) } || "untyped"

  def parameters(method)
    unnamed = "**untyped" if method.signature.match?(/\*\*[,)]/) # YARD leaves it out
    [*method.parameters.filter_map do |name, default|
      bare = name.delete(":*&")
      type = method.tags(:param).find { |tag| tag.name == bare }&.then { |tag| union(tag.types, method.namespace) } || "untyped"
      case name
      when "..." then "*untyped, **untyped"
      when /\A\*\*/ then "**untyped#{" #{bare}" unless bare.empty?}"
      when /\A\*/ then "*#{type[/\AArray\[(.+)\]\z/, 1] || "untyped"} #{bare}"
      when /\A&/ then nil
      when /:\z/ then "#{"?" if default}#{bare}: #{type}"
      else "#{"?" if default}#{type} #{bare}"
      end
    end, *unnamed]
  end

  def block(method)
    yields = method.tags(:yieldparam)
    return unless yields.any? || method.has_tag?(:yieldreturn) || method.has_tag?(:yield) || method.parameters.any? { |name, _| name.start_with?("&") }
    given = yields.map { |tag| union(tag.types, method.namespace) }
    " ?{ (#{given.empty? ? "*untyped" : given.join(", ")}) -> untyped }"
  end

  # @param types [Array<String>, nil] as YARD has them
  # @return [String] as RBS has it
  def union(types, namespace)
    found = types.to_a.map { |text| type(text, namespace) }.uniq
    return found.first || "untyped" if found.size < 2
    return "untyped" if found.include?("untyped")
    some = found - ["nil"]
    text = (some.size == 1) ? some.first : "(#{some.join(" | ")})"
    found.include?("nil") ? "#{text}?" : text
  end

  def type(text, namespace)
    case text
    when "nil", "void" then text
    when "Boolean" then "bool"
    when "self" then "self"
    when /\A(Array|Range|Enumerable)<(.+)>\z/ then "#{$1}[#{union(split($2), namespace)}]"
    when /\AArray\((.+)\)\z/ then "[#{split($1).map { |part| type(part, namespace) }.join(", ")}]"
    when /\AHash\{(.+) => (.+)\}\z/ then "Hash[#{union(split($1), namespace)}, #{union(split($2), namespace)}]"
    when "Array", "Range", "Enumerable" then "#{text}[untyped]"
    when "Hash" then "Hash[untyped, untyped]"
    else name(text, namespace)
    end
  end

  # @return [Array<String>] what commas separate outside of brackets
  def split(text)
    text.each_char.with_object([+""]) { |letter, parts|
      (letter == "," && parts.last.count("<({") == parts.last.count(">)}")) ? parts << +"" : parts.last << letter
    }.map(&:strip)
  end

  def name(text, namespace)
    return text if CORE.include?(text)
    found = YARD::Registry.resolve(namespace, text)
    (found && PublicApi::NAMES.include?(found.path)) ? "::#{found.path}" : "untyped"
  end
end
