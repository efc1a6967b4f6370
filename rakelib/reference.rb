# frozen_string_literal: true

require "puma_tuner"
require_relative "schemas"

# The pages of docs/reference that are made of the code: commands by their table, documents by their classes.
# `rake docs:reference` writes them, and a test holds them against the code (test/docs/reference_test.rb).
module Reference
  FOLDER = File.expand_path("../docs/reference", __dir__)
  WRITTEN = "Made of the code by `bin/exec rake docs:reference`; not to be edited."

  # @return [Hash{String => String}] path => what belongs there
  def self.pages = {"commands.md" => Commands.new.to_s, "documents.md" => Documents.new.to_s}.transform_keys { |name| File.join(FOLDER, name) }

  # @return [Hash{String => String}] path => JSON Schema
  def self.schemas = Schemas.new(Documents.kinds).to_h.transform_keys { |name| File.join(FOLDER, "schemas", name) }

  # Every command with its options, as `--help` has them.
  class Commands
    CLI = PumaTuner::CLI

    def to_s = [head, *CLI::Commands::OWN.keys.map { |name| section(CLI::Commands.fetch(name)) }].join("\n") + "\n"

    private

    def head
      <<~TEXT
        # Commands

        #{WRITTEN} `puma_tuner COMMAND --help` prints the same for one command, and `man/puma_tuner.1` is the manual page.

        | exit code | meaning |
        |---|---|
        #{CLI::ManPage::EXIT_CODES.map { |code, text| "| #{code} | #{cell(text.delete("\\"))} |" }.join("\n")}
      TEXT
    end

    def section(command)
      <<~TEXT
        ## puma_tuner #{CLI::Commands.name_of(command)}

        #{cell(command.about)}.

        ```text
        #{CLI::Help.usage(command)}
        ```
        #{[*arguments(command), *groups(command), *examples(command)].map { |part| "\n#{part}\n" }.join}
      TEXT
        .rstrip + "\n"
    end

    def arguments(command)
      return if command.arguments.empty?
      table("argument", command.arguments.map { |argument| [argument.name.to_s.upcase, argument.about] })
    end

    def groups(command)
      command.listed.group_by(&:group).map do |group, options|
        table(group, options.map { |option| [option.usage, option.told] })
      end
    end

    def examples(command)
      return if command.examples.empty?
      name = CLI::Commands.name_of(command)
      "```console\n#{command.examples.map { |line| "$ puma_tuner #{name} #{line}\n" }.join}```"
    end

    def table(heading, rows)
      ["| #{heading} | |", "|---|---|", *rows.map { |left, right| "| `#{left.gsub("|", "\\|")}` | #{cell(right)} |" }].join("\n")
    end

    # What Markdown would take for its own.
    def cell(text) = text.gsub("|", "\\|").gsub("{{", "`{{").gsub("}}", "}}`").gsub("<", "&lt;")
  end

  # Every value that stands in a file, and the values inside of it.
  class Documents
    UNITS = {
      "_ns" => "nanoseconds", "_ms" => "milliseconds", "_s" => "seconds", "_bytes" => "bytes", "_per_s" => "per second",
      "_ratio" => "0 to 1, or one value over another", "_count" => "a count"
    }.freeze

    # @return [Hash{String => Class}] those that are the gem's own
    def self.kinds
      PumaTuner::Document::KINDS.transform_values { |name| PumaTuner.const_get(name) }
        .select { |_, value_class| value_class.name.start_with?("PumaTuner::") && !value_class.name.start_with?("PumaTuner::Lab") }
    end

    def initialize
      @kinds = self.class.kinds
      @classes = Reference.reachable(@kinds.values)
    end

    def to_s
      parts = (@classes - @kinds.values).sort_by { |value_class| title(value_class) }
      [head, *@kinds.map { |kind, value_class| section(value_class, "Document of kind `#{kind}`.") }, *parts.map { |value_class| section(value_class) }].join("\n") + "\n"
    end

    private

    def head
      <<~TEXT
        # Documents

        #{WRITTEN}

        What a command makes is one JSON object in a file. Besides the fields below it has `kind`, `schema_version`
        (#{PumaTuner::Document::SCHEMA_VERSION}) and `tool_version`. A field's unit is the end of its name: #{UNITS.map { |ending, unit| "`#{ending}` (#{unit})" }.join(", ")}.
        `null` means that a value is not known; most documents say why under `unknown`. `puma_tuner report FILE` shows
        any of them, and `PumaTuner::Document.read("FILE")` makes a Ruby value of it. [schemas/](schemas) has a JSON Schema
        for each kind; a lab's `finding` has none, as labs belong to a checkout: no command of the packaged gem writes
        or reads one. A document of an older version is read, where its fields have been added to or renamed since; one
        whose `schema_version` is not this one is refused, and so is one that holds what a field can't.

        | kind | value |
        |---|---|
        #{@kinds.map { |kind, value_class| "| `#{kind}` | #{link(value_class)} |" }.join("\n")}
      TEXT
    end

    def section(value_class, before = nil)
      members = value_class.respond_to?(:members) ? value_class.members : []
      rows = members.map { |member| "| `#{member}` | #{holds(value_class, member)} |" }
      table = ["| field | holds |", "|---|---|", *rows].join("\n") if rows.any?
      ["## #{title(value_class)}", before, about(value_class), table].compact.join("\n\n") + "\n"
    end

    def title(value_class) = value_class.name.delete_prefix("PumaTuner::")

    def link(value_class) = "[#{title(value_class)}](##{title(value_class).downcase.delete(":")})"

    def holds(value_class, member)
      [nested(fields(value_class, :NESTED, {})[member]), ("a word" if fields(value_class, :SYMBOLS, []).include?(member)), unit(member),
        ("older files lack it" if fields(value_class, :ADDED, []).include?(member))].compact.join("; ")
    end

    def nested(value_class)
      case value_class
      when Class then link(value_class)
      when Array then "list of #{link(value_class.first)}"
      when Hash then "by name, #{link(value_class.fetch(String))} each"
      end
    end

    def unit(member) = UNITS.filter_map { |ending, unit| [ending.size, unit] if member.end_with?(ending) }.max&.last

    # The comment above its definition, which says what its fields mean.
    def about(value_class)
      scope, _, name = value_class.name.rpartition("::")
      path, line = Object.const_get(scope).const_source_location(name)
      above = File.readlines(path, chomp: true).first(line - 1).reverse.take_while { |text| text.match?(/\A\s*(#|\w+ = )/) && !text.include?("Document.define") }
      comment = above.reverse.grep(/\A\s*#/).map { |text| text.sub(/\A\s*# ?/, "") }
      paragraphs(comment)
    end

    # Sentences stay a paragraph; lines that begin with a field's name make a list.
    def paragraphs(lines)
      items = lines.slice_before { |line| line.empty? || line.match?(/\A[a-z]\w*(, \w+)*: /) }.map { |some| some.map(&:strip).reject(&:empty?).join(" ") }.reject(&:empty?)
      items.map { |item| item.match?(/\A[a-z]\w*(, \w+)*: /) ? "- #{item}" : "\n#{item}\n" }.join("\n").gsub(/\n{3,}/, "\n\n").strip.gsub("<", "&lt;")
    end

    # Of a value that is written in a way of its own there is none.
    def fields(value_class, name, none) = value_class.const_defined?(name) ? value_class.const_get(name) : none
  end
end
