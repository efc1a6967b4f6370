# frozen_string_literal: true

require "open3"

module PumaTuner
  module Lab
    # Which code measured something: a figure that nobody can trace to the code that it is of is worth nothing.
    #
    # name: of the last commit that changed more than pages, kept findings and tests, short; changed: whether more than
    #   these has been changed since, and not committed
    Commit = Document.define(:name, :changed) do
      # But for what is written between two measurements, and makes no other version of what measures.
      const_set(:NOT_MEASURING, %w[**/*.md docs/** labs/*/findings/** test/** probe/test/**].freeze)
      const_set(:MEASURING, [".", *self::NOT_MEASURING.map { |path| ":(exclude,glob)#{path}" }].freeze)

      # @param folder [String] of a checkout
      # @return [Commit, nil] nil when this is no checkout, or there is no git
      def self.of(folder)
        root = git(folder, "rev-parse", "--show-toplevel")&.chomp or return
        # As many digits in each clone, where git would take as many as its packs need.
        name = [["log", "-1", "--abbrev=8", "--format=%h", "--", *self::MEASURING], ["rev-parse", "--short=8", "HEAD"]]
          .lazy.filter_map { |words| git(root, *words) }.map(&:strip).find { |one| !one.empty? } or return
        new(name:, changed: !git(root, "status", "--porcelain", "--", *self::MEASURING).to_s.strip.empty?)
      end

      def self.git(folder, *words)
        output, status = Open3.capture2("git", "-C", folder, *words, err: File::NULL)
        output if status.success?
      rescue SystemCallError
        nil
      end
      private_class_method :git

      # @return [String] "commit `4ffeb6d` with uncommitted changes"
      def to_s = "commit `#{name}`#{" with uncommitted changes" if changed}"
    end

    # The line that says it on each page of figures, of labs and of benchmarks.
    module Provenance
      # What such a line looks like. Of the machine, pages of before may tell less.
      PATTERN = /^Made\ with\ commit\ `(?<commit>\h{7,40})`(?<dirty>\ with\ uncommitted\ changes)?
        \ on\ (?<day>\d{4}-\d\d-\d\d):\ (?<machine>.+)\.$/x

      module_function

      # @param folder [String] of a checkout
      # @return [String] "commit `4ffeb6d`", "an unknown commit"
      def commit_of(folder) = words(Commit.of(folder))

      # @param commit [Commit, nil]
      # @return [String]
      def words(commit) = commit ? commit.to_s : "an unknown commit"

      # @param machine [Probe::MachineFacts] as it was before the run
      # @param commit [String]
      # @param at [Time]
      # @param ruby [String]
      # @return [String]
      def line(machine, commit:, at: Time.now, ruby: RUBY_DESCRIPTION)
        facts = [ruby, Report::Facts.machine(machine.with(load_average: nil)), machine.kernel,
          "load average before the run #{machine.load_average || "unknown"}"]
        "Made with #{commit} on #{at.utc.strftime("%Y-%m-%d")}: #{facts.join("; ")}."
      end
    end
  end
end
