# frozen_string_literal: true

require "fileutils"
require "json"

module Validation
  # What has been measured, on disk: a line of JSON for each thing as soon as it is there, so that an interrupted run goes on
  # where it was, and predictions can be made anew without measuring again. A later line takes the place of an earlier one with
  # the same key and start.
  #
  #   {"kind": "run", …}  what holds for all lines: the layout of these lines, the commit, the machine, how much work a millisecond is
  #   {"kind": "recording", "key": …, "turns_per_ms": …, "disturbed": …}  speed (see Speed); why it must not count, or null
  #   {"kind": "cell", "key": …, "start": …}  see Session: of one server's start
  #   {"kind": "look", "key": …, "at": …, "commit": …}  somebody looked at the cells that are held out
  #   {"kind": "absent", "key": subject, "reason": …}  a subject that can't be had here
  # Recordings and calibrated machines are files of their own beside it, as `puma_tuner` writes them.
  class Journal
    # Of the lines. What was written by another one can't be gone on with.
    LAYOUT = 3

    FOLDER = File.expand_path("../../tmp/validate", __dir__)

    # @param folder [String]
    # @param fresh [Boolean] whether to begin anew
    def initialize(folder, fresh: false)
      @folder = folder
      @path = File.join(folder, "journal.jsonl")
      FileUtils.rm_rf(folder) if fresh
      FileUtils.mkdir_p(folder)
      @lines = read
      raise PumaTuner::UserMistake, "#{folder} was measured by another version of this program; --fresh begins anew" if run && run["layout"] != LAYOUT
    end

    # @param fields [Hash] with "kind" and, of several of a kind, "key" and "start"
    def add(fields)
      line = JSON.generate(fields)
      File.write(@path, "#{line}\n", mode: "a")
      @lines[place(fields)] = JSON.parse(line)
    end

    # @return [Hash, nil]
    def run = @lines[["run", nil, nil]]

    # @param cell [Cell]
    # @return [Hash, nil] what one server's start gave
    def start(cell, number) = @lines[["cell", cell.key, number]]

    # @param cell [Cell]
    # @return [Array<Hash>] what each start gave, of those that were made
    def starts(cell) = @lines.filter_map { |(kind, key, _), fields| fields if kind == "cell" && key == cell.key }

    # @return [Array<Hash>] each time that somebody looked at what is held out
    def looks = @lines.filter_map { |(kind, _, _), fields| fields if kind == "look" }

    # @return [String, nil] why a subject is not there
    def absence(subject) = @lines[["absent", subject.key, nil]]&.fetch("reason")

    # @param name [String] of a recording
    # @return [String, nil] why it must not count, as a clause
    def disturbed(name) = @lines[["recording", name, nil]]&.fetch("disturbed")

    # @param name [String] of a recording
    # @return [Float] the machine's speed meanwhile, see Speed
    def recorded_turns_per_ms(name) = @lines.fetch(["recording", name, nil]).fetch("turns_per_ms")

    # @param name [String] of a document: a recording's or a machine's
    # @return [Data, nil]
    def document(name)
      path = path_of(name)
      PumaTuner::Document.read(path) if File.file?(path)
    end

    # @param name [String]
    # @param value [Data]
    # @return [Data] itself
    def keep(name, value)
      PumaTuner::Document.write(value, path_of(name))
      value
    end

    private

    def place(fields) = [fields.fetch("kind"), fields["key"], fields["start"]]

    def path_of(name) = File.join(@folder, "#{name.tr("/ ", "__")}.json")

    # The last line may be cut short: whoever wrote it was interrupted.
    def read
      return {} unless File.file?(@path)
      lines = File.readlines(@path, chomp: true).filter_map do |line|
        JSON.parse(line)
      rescue JSON::ParserError
        nil
      end
      lines.to_h { |fields| [place(fields), fields] }
    end
  end
end
