# frozen_string_literal: true

# What YARD has to know of this project: `X = Document.define(:a, :b) { … }` makes a class whose fields the comment
# above it describes ("a: …; b, c: …"), and what PublicApi does not list is private API.

require "yard"
require_relative "public_api"

class DocumentHandler < YARD::Handlers::Ruby::ConstantHandler
  handles :assign
  namespace_only

  # A field's name, or several, before a colon: "p50_ns, p99_ns: of it".
  DESCRIBED = /(?:\A|[\s;])((?:\w+, )*\w+): /

  process do
    call = statement[1]
    next unless call.call? && call[0].source.end_with?("Document") && call[2].source == "define"
    document = create_class(statement[0].source, P(:Data))
    described = descriptions(document.docstring.to_s)
    members(call, described).each do |name|
      next if document.attributes[:instance][name]
      document.attributes[:instance][name] = SymbolHash[read: nil, write: nil]
      create_reader(document, name)
      text = described[name] and document.attributes[:instance][name][:read].docstring = text
    end
    parse_block(call.block[1], namespace: document) if call.block
  end

  private

  # @return [Array<String>] a list that is splatted is told by what describes its fields
  def members(call, described)
    names = extract_parameters(call)
    call.parameters.source.include?("*") ? names | described.keys.grep(/_ns\z/) : names
  end

  # @return [Hash{String => String}] text by field
  def descriptions(comment)
    parts = comment.tr("\n", " ").split(DESCRIBED).drop(1)
    parts.each_slice(2).flat_map { |names, text| names.split(", ").map { |name| [name, text.to_s.strip.delete_suffix(";")] } }.to_h
  end
end

# For the pages. ApiReference goes by the list itself.
YARD::Parser::SourceParser.after_parse_list do
  next if defined?(ApiReference)
  YARD::Registry.all(:class, :module, :method, :constant).each do |object|
    object.add_tag(YARD::Tags::Tag.new(:api, "private")) unless PublicApi.include?(object) || object.has_tag?(:api)
  end
end
