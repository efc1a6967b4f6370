# frozen_string_literal: true

# A file of tests, and what is known of it without loading it.
TestFile = Data.define(:path) do
  # @param kind [String, nil] one of KINDS; nil: all
  # @return [Array<TestFile>] those that a run of them begins with first: what is slow is not left for the end, when other processes have nothing to do
  def self.all(kind = nil)
    files = Dir[File.join(TestFile::PROJECT, "{test,probe/test}/**/*_test.rb")].map { |path| new(path) }
    files.select { |file| kind.nil? || file.kind == kind }.sort_by { |file| [-TestFile::KINDS.index(file.kind), -file.longest_s, file.path] }
  end

  # @return [String] what its folder says, a line of it (`kind :integration`), or what it requires
  def kind
    text[/^  kind :(\w+)$/, 1] || TestFile::KINDS.find { |name| path.include?("/test/#{name}/") } || (text.match?(TestFile::STARTS_PROGRAMS) ? "integration" : "unit")
  end

  # @return [Boolean] whether it wants the machine for itself: `timed!`
  def timed? = text.match?(/^  timed!$/)

  # @return [Integer] seconds that its tests could take together, by their limits
  def longest_s = tests_count * (text[/^  time_limit (\d+)$/, 1] || 120).to_i

  def tests_count = text.scan(/^ +test[ (]["']/).size

  def name = path.delete_prefix("#{TestFile::PROJECT}/")

  private

  def text = File.read(path)
end

TestFile::PROJECT = File.expand_path("../..", __dir__)

# What each kind is of, in the order of what a test of it takes.
TestFile::NEEDS = {"unit" => "without servers", "integration" => "with servers, with the command, or with other programs", "browser" => "of pages in Chromium", "labs" => "of labs/"}.freeze

TestFile::KINDS = TestFile::NEEDS.keys.freeze

# What a file requires that has servers or programs started.
TestFile::STARTS_PROGRAMS = /^require(_relative)? "[^"]*\b(open3|socket|command_line|served_app|own_gems_app|rails_app|packed_gems|exporters|watched_script|profiled_script|scripted_server|block_trials|prometheus_process)"$/
