# frozen_string_literal: true

require "test_helper"
require "yaml"

# The pages and forms for whoever joins in: what they point to is there.
class HabitsTest < TunerTest
  ROOT = File.expand_path("..", __dir__)
  FORMS = Dir["#{ROOT}/.github/ISSUE_TEMPLATE/*.yml"].reject { |path| path.end_with?("/config.yml") }

  def read(name) = File.read(File.join(ROOT, name))

  test "every file and folder that CONTRIBUTING.md and SECURITY.md name is there" do
    %w[CONTRIBUTING.md SECURITY.md].each do |page|
      named = read(page).scan(/\]\(([^)#]+)[^)]*\)/).flatten + read(page).scan(%r{`((?:lib|probe|test|labs|rakelib|docs|ext|sig)/[^`\s]*)`}).flatten
      assert_operator named.size, :>, 1, page
      missing = named.reject { |path| path.match?(/NAME|NN-/) || Dir.exist?(File.join(ROOT, path)) || File.exist?(File.join(ROOT, path)) }
      assert_empty missing, page
    end
  end

  test "every rake task that CONTRIBUTING.md names is there" do
    tasks = Dir["#{ROOT}/{Rakefile,rakelib/*.rake}"].map { |path| File.read(path) }.join
    named = read("CONTRIBUTING.md").scan(/\brake ([a-z][\w:]*)/).flatten.uniq - %w[compile] # rake-compiler's
    assert_operator named.size, :>, 6
    assert_empty named.reject { |name| tasks.match?(/task[ (]*"?\(?:?#{name.split(":").last}\b/) }
  end

  test "a form asks for what is needed to repeat it, and each of its questions has a name of its own" do
    assert_equal %w[bug feature wrong_forecast], FORMS.map { |path| File.basename(path, ".yml") }.sort
    FORMS.each do |path|
      form = YAML.safe_load_file(path)
      assert_equal %w[body description labels name], form.keys.sort
      names = form["body"].map { |question| question.fetch("id") }
      assert_equal names.uniq, names
      assert form["body"].any? { |question| question.dig("validations", "required") }, path
    end
    asked = ->(name) { YAML.safe_load_file("#{ROOT}/.github/ISSUE_TEMPLATE/#{name}.yml")["body"].select { |question| question.dig("validations", "required") }.map { |question| question["id"] } }
    assert_includes asked.call("bug"), "versions"
    assert_includes asked.call("wrong_forecast"), "documents"
  end

  test "the CI example runs programs that are there, on the whole history" do
    jobs = YAML.safe_load_file("#{ROOT}/.github/workflows/ci.yml", aliases: false).fetch("jobs")
    steps = jobs.fetch("test").fetch("steps")
    programs = steps.filter_map { |step| step["run"]&.slice(%r{\A(\.ci|bin)/\w+}) }
    assert_equal %w[.ci/run bin/exec], programs
    programs.each { |program| assert File.executable?(File.join(ROOT, program)), program }
    assert_equal 0, steps.find { |step| step["uses"].to_s.start_with?("actions/checkout") }.dig("with", "fetch-depth")
  end

  test "the changelog has a part for what is not released, and dates all versions" do
    headings = read("CHANGELOG.md").scan(/^## .+/)
    assert_equal "## Unreleased", headings.first
    headings.drop(1).each { |heading| assert_match(/\A## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\z/, heading) }
    assert_empty read("CHANGELOG.md").scan(/^### (.+)/).flatten - %w[Added Changed Fixed]
  end

  test "both gems have the version of one file, and no address that nobody has" do
    specs = %w[puma_tuner.gemspec probe/puma_tuner-probe.gemspec].map { |path| Dir.chdir(File.dirname(File.join(ROOT, path))) { Gem::Specification.load(File.basename(path)) } }
    assert_equal [PumaTuner::VERSION], specs.map { |spec| spec.version.to_s }.uniq
    assert_equal 1, Dir["#{ROOT}/{lib,probe/lib}/**/*.rb"].count { |path| File.read(path).match?(/^ *VERSION = "\d/) }
    specs.each do |spec|
      assert_equal "true", spec.metadata["rubygems_mfa_required"]
      assert_nil spec.homepage
      assert_empty spec.metadata.keys.grep(/_uri/)
    end
  end
end
