# frozen_string_literal: true

require "open3"
require "puma_tuner"

module Bench
  # What the figures of a page were made with, in one line that is the same on all pages: the commit, the day and the machine. A figure that
  # nobody can trace to the code that it is of is worth nothing.
  module Provenance
    # What such a line looks like. Of the machine, pages of before may tell less.
    PATTERN = /^Made with commit `(?<commit>\h{7,40})`(?<dirty> with uncommitted changes)? on (?<day>\d{4}-\d\d-\d\d): (?<machine>.+)\.$/

    class << self
      # @param folder [String] of a checkout
      # @return [String] e.g. "commit `4ffeb6d` with uncommitted changes"
      def commit_of(folder)
        hash = git(folder, "rev-parse", "--short", "HEAD") or return "an unknown commit"
        "commit `#{hash.strip}`#{" with uncommitted changes" unless git(folder, "status", "--porcelain").to_s.strip.empty?}"
      end

      # @param machine [PumaTuner::Probe::MachineFacts] as it was before the run
      # @param at [Time]
      # @param ruby [String]
      # @param commit [String]
      # @return [String]
      def line(machine, at: Time.now, ruby: RUBY_DESCRIPTION, commit: COMMIT)
        facts = [ruby, PumaTuner::Report::Facts.machine(machine.with(load_average: nil)), machine.kernel, "load average before the run #{machine.load_average || "unknown"}"]
        "Made with #{commit} on #{at.utc.strftime("%Y-%m-%d")}: #{facts.join("; ")}."
      end

      private

      # @return [String, nil] nil when this is no checkout, or there is no git
      def git(folder, *words)
        output, status = Open3.capture2("git", "-C", folder, *words, err: File::NULL)
        output if status.success?
      rescue SystemCallError
        nil
      end
    end

    # As a benchmark begins: what is changed while it runs is not what it measured.
    COMMIT = commit_of(__dir__)
  end
end
