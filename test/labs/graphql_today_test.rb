# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/few_rounds"

# The lab's cures change nothing but time: seeded schemas and queries, asked with and without them.
class GraphqlTodayTest < TunerTest
  time_limit 120

  FOLDER = File.expand_path("../../labs/06-graphql-today", __dir__)
  LAB = PumaTuner::Lab.find("graphql_today")
  INSTALLED = PumaTuner::Lab::Gems.missing(LAB.gems(quick: true)).empty?
  SEED = 40

  # What the short form finds, which asks the seeded queries itself.
  def self.finding = @finding ||= LAB.call(FewRounds.new(LAB, seed: SEED))

  def finding
    skip "graphql is not installed: puma_tuner lab setup graphql_today --quick" unless INSTALLED
    self.class.finding
  end

  def compare(engine)
    table = finding.tables.find { |one| one.title == "Answers with the cures and without" }
    row = table.rows.find { |name, *| name == engine }
    found = table.headings.zip(row).drop(1).to_h { |heading, count| [heading, count.to_i] }
    assert_equal 0, found.fetch("different"), "differential.rb --engine #{engine} --schemas 20 --queries 9 --seed #{SEED} shows them"
    assert_equal 200, found.fetch("queries")
    assert_operator found.fetch("with data"), :>, 100
    assert_operator found.fetch("with errors"), :>, 20
  end

  def run_ruby(script, **environment)
    skip "graphql is not installed: puma_tuner lab setup graphql_today --quick" unless INSTALLED
    output, status = Open3.capture2e({"RUBYOPT" => nil, "RUBYLIB" => nil, **environment}, RbConfig.ruby, "-e", script, chdir: FOLDER)
    assert status.success?, output
    output
  end

  test "the cured classic engine answers as the gem does" do
    compare("classic")
  end

  test "the cured Execution::Next gives the results that the gem gives" do
    compare("next")
  end

  test "the workloads answer alike in both engines, with and without the cures" do
    script = <<~RUBY
      require "./workloads"
      require "./patches"
      require "digest"
      GraphqlToday::Patches.load_named(ENV.fetch("PATCHED"))
      GraphqlToday::Workloads::QUERIES.each do |query|
        GraphqlToday::Workloads::ENGINES.each do |engine|
          answer = GraphqlToday::Workloads.fetch(engine:, query:).call
          puts [query, GraphqlToday::Workloads.field_count(answer), Digest::SHA256.hexdigest(answer.to_s)].join(" ")
        end
      end
    RUBY
    lines = %w[0 1].flat_map { |patched| run_ruby(script, "PATCHED" => patched).lines }
    assert_equal 20, lines.size
    assert_equal %w[introspection flat parent dataloader unhelped], lines.uniq.map { |line| line[/\A\w+/] }
    assert_equal %w[4102 9102 4102 4102], lines.uniq.last(4).map { |line| line[/ (\d+) /, 1] }
  end

  test "asks hooks once, also when they raise again, and tells of arguments that do not match" do
    script = <<~RUBY
      require "./workloads"
      require "./patches"
      GraphqlToday::Patches.load_named(ENV.fetch("PATCHED"))
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field :raises, String
        field :wants, String
        field :missing, String
        field :value, String
        def raises = raise(GraphQL::UnauthorizedError, "not you")
        def wants(this:) = this
      end
      schema = Class.new(GraphQL::Schema) { query(query) }
      schema.define_singleton_method(:unauthorized_object) { |error| puts("asked") || raise(error) }
      roots = [nil, {}, Hash.new { |_, key| raise ArgumentError, "no \#{key}" }, Struct.new(:value).new("own")]
      roots.product(%w[raises wants missing value]) do |root, field|
        puts schema.execute("{ \#{field} }", root_value: root).to_h
      rescue => error
        puts error.class, error.message.gsub(/0x\\h+/, "")
      end
    RUBY
    plain, cured = %w[0 1].map { |patched| run_ruby(script, "PATCHED" => patched) }
    assert_equal plain, cured
    assert_equal 4, plain.scan("asked").size
    assert_includes plain, "FieldImplementationFailed"
    assert_includes plain, "no value"
  end

  test "leaves every graphql alone but the one the cures were written against" do
    script = <<~RUBY
      require "./workloads"
      require "./patches"
      $stderr = $stdout
      GraphqlToday::Patches::WRITTEN_AGAINST.then do |known|
        GraphqlToday::Patches.send(:remove_const, :WRITTEN_AGAINST)
        GraphqlToday::Patches.const_set(:WRITTEN_AGAINST, known.merge("graphql/schema/field.rb" => "another"))
      end
      p GraphqlToday::Patches.load_named("1"), GraphQL::Schema::Field.ancestors.first
    RUBY
    assert_match(%r{left out: graphql/schema/field\.rb of graphql 2\.6\.14 is not the one.*\[\]\nGraphQL::Schema::Field}m, run_ruby(script))
  end

  test "takes patches by name, all, all but some, and refuses unknown ones" do
    script = <<~RUBY
        require "./patches"
        names = GraphqlToday::Patches.method(:names)
        p names["0"], names["1"] == GraphqlToday::Patches.all, names["field_resolve,gather_once"], names["1"].size - names["-gather_once"].size
        names["no_such"]
      rescue ArgumentError => error
        puts error.message
    RUBY
    assert_match(/\A\[\]\ntrue\n\["field_resolve", "gather_once"\]\n1\nPATCHED=no_such: there is enum_lookup, /, run_ruby("begin\n#{script}end"))
  end

  test "its short form proves what it claims, and ends with a report" do
    refute_includes finding.claims.map(&:outcome), :differs
    assert_equal ["classic, introspection, Ruby #{RUBY_VERSION}, YJIT off", "next, parent, Ruby #{RUBY_VERSION}, YJIT off"], finding.verdicts.keys
    before, after = finding.tables.first.rows.first.last(2).map { |count| count.delete(",").to_i }
    assert_operator after, :<, 0.7 * before, "objects of classic introspection"
    %i[text html markdown].each { |format| assert_includes PumaTuner::Report.render(finding, format:), "seeded queries" }
  end
end
