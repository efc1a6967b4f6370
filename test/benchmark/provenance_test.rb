# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/support/provenance"

# Each page of figures says what it was made with.
class ProvenanceTest < TunerTest
  PROJECT = File.expand_path("../..", __dir__)
  MACHINE = PumaTuner::Probe::MachineFacts.new(cores_count: 2, cpu_model: "A", cpu_quota_cores: 1.5, memory_bytes: 1, kernel: "Linux 6",
    load_average: 0.5, cpu_pressure_ratio: 0.007)

  def git(folder, *words)
    system("git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words, out: File::NULL, err: File::NULL) || flunk("git #{words}")
  end

  test "one line tells commit, day and machine" do
    line = Bench::Provenance.line(MACHINE, at: Time.utc(2026, 1, 2, 3), ruby: "ruby 3.4.5", commit: "commit `1234567`")
    assert_equal "Made with commit `1234567` on 2026-01-02: ruby 3.4.5; 2 cores (A), limited to 1.50, CPU pressure 0.7%; Linux 6; load average before the run 0.5.", line
    assert_match Bench::Provenance::PATTERN, line
    assert_match Bench::Provenance::PATTERN, Bench::Provenance.line(MACHINE, commit: "commit `1234567` with uncommitted changes")
  end

  test "the commit is the checkout's, and what is not committed is told" do
    Dir.mktmpdir do |folder|
      assert_equal "an unknown commit", PumaTuner::Lab::Provenance.commit_of(folder)
      git(folder, "init", "-q")
      git(folder, "commit", "-q", "--allow-empty", "-m", "one")
      hash = IO.popen(["git", "-C", folder, "rev-parse", "HEAD"], &:read)
      clean = PumaTuner::Lab::Provenance.commit_of(folder)
      assert_match(/\Acommit `\h{7,}`\z/, clean)
      assert hash.start_with?(clean[/\h{7,}/])
      File.write(File.join(folder, "new.rb"), "")
      assert_equal "#{clean} with uncommitted changes", PumaTuner::Lab::Provenance.commit_of(folder)
    end
  end

  test "pages, kept findings and tests are no other commit, whether they are committed or not" do
    Dir.mktmpdir do |folder|
      git(folder, "init", "-q")
      write = lambda do |path, commit:|
        FileUtils.mkdir_p(File.dirname(File.join(folder, path)))
        File.write(File.join(folder, path), "1")
        git(folder, "add", "-A") && git(folder, "commit", "-q", "-m", path) if commit
        PumaTuner::Lab::Commit.of(folder)
      end
      code = write.call("lib/a.rb", commit: true)
      refute code.changed
      %w[README.md labs/01-a/findings/a.json probe/test/a_test.rb].each { |path| assert_equal code, write.call(path, commit: false), path }
      assert_equal code, write.call("docs/a.md", commit: true)
      refute_equal code.name, write.call("labs/01-a/a.json", commit: true).name
      assert write.call("findings/a.json", commit: false).changed
    end
  end

  # Whoever writes a page of docs/measured names it.
  PAGES = Dir["#{PROJECT}/benchmark/**/*.rb"]
    .flat_map { |path| File.read(path).scan(/page: "(docs\/\w+\/\w+\.md)"/).flatten }.uniq.sort.freeze

  test "all pages that benchmarks write are known" do
    assert_operator PAGES.size, :>=, 9
    # The reference is written out of the code, not of a measurement.
    written = Dir["#{PROJECT}/docs/**/*.md"].select { |path| File.read(path).match?(/^Written by (?!`bin\/exec rake docs:)/) }
    assert_equal PAGES, written.map { |path| path.delete_prefix("#{PROJECT}/") }.sort
    assert_equal PAGES, Dir["docs/measured/*.md", base: PROJECT].sort, "what nobody measured lies elsewhere"
  end

  # Pages of which several programs write a part each: the soak, the fuzzing and the walk through the documentation; packages and matrix.
  PARTS_COUNTS = {"docs/measured/reliability.md" => 3, "docs/compatibility.md" => 2}.freeze

  # A part that nobody has written in full yet: once it is there, it says the same.
  LATER = /^## Looks: /

  (PAGES | PARTS_COUNTS.keys).each do |page|
    test "#{page} says what it was made with: a commit that there is" do
      text = File.readlines(File.join(PROJECT, page), chomp: true)
      lines = text.grep(/^Made with /)
      assert_equal PARTS_COUNTS.fetch(page, 1) + text.grep(LATER).size, lines.size
      lines.each do |line|
        made = Bench::Provenance::PATTERN.match(line)
        refute_nil made, line
        assert_known(made[:commit])
      end
    end
  end

  # Where the history is: a clone of no depth has the last commit only, and a packed folder none.
  def assert_known(commit)
    shallow = IO.popen(["git", "-C", PROJECT, "rev-parse", "--is-shallow-repository", err: File::NULL], &:read).strip
    return unless shallow == "false"
    assert system("git", "-C", PROJECT, "cat-file", "-e", "#{commit}^{commit}", err: File::NULL), "there is no commit #{commit}"
  end
end
