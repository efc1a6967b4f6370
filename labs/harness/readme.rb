# frozen_string_literal: true

require "fileutils"
require "time"

module PumaTuner
  module Lab
    # What stays of a run in the repository: the finding without its rounds, `findings/NAME.json` beside the lab's
    # README, and what README says of it, between two marks there. Nobody types a figure.
    class Readme
      # Of a kept finding: whoever clones the repository has them all.
      SIZE_MAX_BYTES = 200_000

      HEADINGS = ["claim", "published", "taken as", "measured here", "outcome", "remark"].freeze

      # @param lab [Object]
      # @param folder [String] of the lab
      def initialize(lab, folder: Lab.folder_of(lab))
        @lab = lab
        @folder = folder
      end

      # @return [String] path
      def path = File.join(@folder, "README.md")

      # @return [String] path
      def kept = File.join(@folder, "findings", "#{@lab.name}.json")

      # @return [Finding, nil] that is kept
      def finding = (Document.read(kept, :finding) if File.file?(kept))

      # @return [String, nil] what README says between the marks; nil without them
      def written = File.read(path, encoding: Encoding::UTF_8)[between]

      # @param finding [Finding] of this lab
      # @return [void]
      # @raise [UsageError] when it is too large, README has no marks, or nothing can be written
      def keep(finding)
        short = finding.short
        ensure_small(short)
        text = File.read(path, encoding: Encoding::UTF_8)
        raise UsageError, "#{path} has lost its marks, #{mark} and #{mark("/")}" unless text.match?(between)
        AtomicFile.write(path, text.sub(between) { "\n#{text_of(short)}\n" })
        FileUtils.mkdir_p(File.dirname(kept))
        Document.write(short, kept)
      rescue SystemCallError => error
        raise UsageError, "cannot write to #{@folder}: #{error.message}"
      end

      # @param finding [Finding]
      # @return [String] Markdown
      def text_of(finding)
        [made_with(finding), "", *finding.conclusions.map { |text| "- #{text}" }, "",
          *(claims(finding) if finding.claims.any?), *finding.tables.flat_map { |table| folded(table) }]
          .join("\n").gsub(/\n{3,}/, "\n\n").rstrip
      end

      # What a claim is held against, as a ratio with its margin.
      #
      # @param claim [Claim]
      # @return [String] "1.27x ±10%", "5–15x ±10%", "above 1x", "–"
      def self.taken_as(claim)
        margin = claim.margin or return "–"
        low, high = margin.low && margin.low * (1 + margin.ratio), margin.high && margin.high / (1 + margin.ratio)
        low, high = [low, high].map { |ratio| ratio && format("%.3g", ratio) }
        return "below #{high}x" unless low
        return "above #{low}x" unless high
        ends = [low, high].uniq
        "#{ends.join("–")}x ±#{format("%g", (margin.ratio * 100).round(1))}%"
      end

      private

      def mark(slash = "") = "<!-- #{slash}finding: #{@lab.name} -->"

      def between = /(?<=#{Regexp.escape(mark)}).*?(?=#{Regexp.escape(mark("/"))})/m

      def ensure_small(finding)
        bytes = Document.dump(finding).bytesize
        return if bytes < SIZE_MAX_BYTES
        raise UsageError, "the finding of #{finding.lab} has #{bytes} bytes without its rounds, and " \
          "#{SIZE_MAX_BYTES} are the most that is kept; the lab needs fewer tables and charts"
      end

      def made_with(finding)
        line = Provenance.line(finding.machine, commit: Provenance.words(finding.commit),
          at: Time.iso8601(finding.started_at), ruby: finding.ruby || "an unknown Ruby")
        form = "#{finding.quick ? "Short form, whose intervals are wide" : "Long form"}: `#{finding.command}`."
        [line, form, FindingReport::ClaimRows.family(finding)].compact.join("\n")
      end

      def claims(finding)
        rows = finding.claims.zip(FindingReport::ClaimRows.of(finding)).map do |claim, row|
          published = (row.published == "-") ? "" : row.published
          [row.text, published, self.class.taken_as(claim), row.measured, row.outcome || "–", row.note.to_s]
        end
        [*lines(HEADINGS, rows), ""]
      end

      # There, and out of the way.
      def folded(table)
        ["<details><summary>#{table.title}</summary>", "", *lines(table.headings, table.rows), "", *table.notes, "",
          "</details>", ""]
      end

      def lines(headings, rows)
        [headings, headings.map { "---" }, *rows].map { |cells| "| #{cells.map { |text| cell(text) }.join(" | ")} |" }
      end

      def cell(text) = text.to_s.gsub("|", "\\|").gsub(/\s+/, " ").strip
    end
  end
end
