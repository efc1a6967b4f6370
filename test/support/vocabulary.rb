# frozen_string_literal: true

# Words that the field has better ones for, and that must not come back: see VOCABULARY.md.
module Vocabulary
  ROOT = File.expand_path("../..", __dir__)

  # Old word => the field's.
  OLD = {
    /\bthought\b/i => "think time",
    /\bbeaten\b|\b(?:on|off) the front\b|\bthe front of\b/i => "dominated, Pareto front",
    /\bodd[ _]requests?\b|OddRequests|--odd\b/i => "outlier",
    /\bunclosed(?:_count)?\b/i => "unaccounted",
    /\bshows from\b|smallest[ _]effect|SmallestEffect/i => "minimum detectable effect",
    /\bLaws\b|\bprove\/laws\b/ => "validity checks",
    /\bheld[ _-]back(?:_count)?\b/i => "waiting for a connection, buffered",
    /\bUndisturbed\b/ => "service demand",
    /\bunaided\b/i => "without the extension, fallback",
    /\boff_?gvl\b/i => "blocking region",
    /\bburners?\b/i => "spinner",
    /\bHost::Asking\b/ => "signal query",
    /\b(?:an|the|its|their|each|every|first|last|next|wrong|right|unexpected|no|all|most|these|those|per|of|\d+) answers?\b/i =>
      "response",
    /\bWhat (?:the proof|this|it) rests on\b/ => "Methodology",
    /\bUserMistake|VoidMeasurement|EqualCovariate|LabelSwaps\b/ => "UsageError, InvalidMeasurement, Ancova, PermutationTest",
    /\bmend(?:s|ed|ing)?\b/i => "fix",
    /\bfor ever\b/i => "forever, without bound",
    /[\d}] %(?![>\w(\[{]| *\d)/ => "30%, without a space"
  }.freeze

  # What is looked at, and what of it.
  FILES = "{lib,ext,docs,labs/harness,probe/lib,probe/ext,probe/sig,sig}/**/*.{rb,c,h,md,erb,rbs,js}"
  MORE = %w[README.md CONTRIBUTING.md SECURITY.md VOCABULARY.md probe/README.md man/puma_tuner.1 labs/harness.rb].freeze
  TESTS = "{test,probe/test}/**/*_test.rb"
  TEST_NAME = /^\s*test\(? ?"(.*)"/

  # Lines that may have old words, and why.
  ALLOWED = {
    /\brenamed: \{|OLDER_CAUSES/ => "reads documents of older versions, which have the old key",
    /\Alab|\| not \|/ => "names the word that is not to be used"
  }.freeze

  module_function

  # @param line [String]
  # @return [Array(String, String), nil] the old word and the field's
  def old_word(line)
    return if ALLOWED.any? { |pattern, _| line.match?(pattern) }
    OLD.each { |pattern, better| line[pattern]&.then { |found| return [found, better] } }
    nil
  end

  # @return [Array<String>] "file:line: word -> better"
  def found
    files = Dir.glob([FILES, *MORE], base: ROOT).sort.flat_map { |path| each_line(path) { |line| line } }
    names = Dir.glob(TESTS, base: ROOT).sort.flat_map { |path| each_line(path) { |line| line[TEST_NAME, 1] } }
    files + names
  end

  def each_line(path)
    File.foreach(File.join(ROOT, path), encoding: "UTF-8").with_index(1).filter_map do |line, number|
      word, better = (yield line)&.then { |text| old_word(text) }
      "#{path}:#{number}: #{word.strip} -> #{better}" if word
    end
  end
end
