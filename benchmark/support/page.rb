# frozen_string_literal: true

module Bench
  # What is printed, and a page of docs/. Generated; nothing in it is written by hand. Pure but for its date. A subclass has `results`, for the terminal,
  # and `to_s`, the whole page.
  class Page
    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param verdicts [Array<#outcome>]
    # @param at [Time]
    # @param commit [String] that measured, in words
    def initialize(machine:, verdicts: [], at: Time.now, commit: Provenance::COMMIT)
      @machine = machine
      @verdicts = verdicts
      @at = at
      @commit = commit
    end

    # What the headings of sections begin with that stand behind another program's page.
    SECTIONS = ["## Fuzz", "## Documentation", "## Looks"].freeze

    # Writes the page. One whose heading is of the second level is a section of another's, and stands behind it.
    #
    # @param path [String]
    # @return [void]
    def write(path)
      before = File.exist?(path) ? File.read(path) : ""
      File.write(path, Page.joined(before, to_s))
    end

    # @param before [String] a page, which may have sections of others
    # @param text [String] a whole page, or one of its sections
    # @return [String] the page with that in it
    def self.joined(before, text)
      heading = text[/\A##? .*/]
      whole, *sections = before.split(/^(?=#{Regexp.union(SECTIONS)})/)
      if heading.start_with?("# ") then whole = text
      else sections[sections.index { |section| section.start_with?("#{heading}\n") } || sections.size] = text
      end
      [whole, *sections].compact.map { |one| "#{one.rstrip}\n" }.join("\n")
    end

    # @return [Array<Symbol>] :met, :missed or :not_shown, of each target
    def outcomes = @verdicts.map(&:outcome)

    private

    def facts = Provenance.line(@machine, at: @at, commit: @commit)

    # @param parts [Array<String, nil>]
    # @return [String] with an empty line between
    def paragraphs(*parts) = "#{parts.flatten.compact.map(&:strip).join("\n\n")}\n"

    # @yield see Verdict.table
    # @return [Array<String>] none where there are none
    def targets(&) = @verdicts.empty? ? [] : ["## Targets", Verdict::EXPLAINED, Verdict.table(@verdicts, &)]
  end
end
