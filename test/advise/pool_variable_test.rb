# frozen_string_literal: true

require "test_helper"
require "support/advice_fixture"
require "tmpdir"

# From which variable of the environment an app's database.yml has the size of its pool.
class AdvisePoolVariableTest < TunerTest
  include PumaTuner

  RAILS = %(default: &default\n  adapter: sqlite3\n  max_connections: <%= ENV.fetch("RAILS_MAX_THREADS") { 5 } %>\nproduction:\n  <<: *default\n)

  # @param size [Integer] of the pool that was recorded, for eight threads
  # @return [Hash{String => String}] factors of a variant
  def factors(database_yml, size: 5, environment: {}, permissions: 0o644)
    Dir.mktmpdir do |folder|
      FileUtils.mkdir(File.join(folder, "config"))
      File.write(File.join(folder, "config/database.yml"), database_yml, perm: permissions) if database_yml
      pool = Statement.of(:too_few_places, size:, places_count: 8, threads_count: 8)
      Advise::PoolVariable.factors(TuningFixture.go.with(evidence: [pool]), Host::Command.new(words: ["puma"], directory: folder, environment:))
    end
  end

  test "the pool that a new Rails app has is given its places by RAILS_MAX_THREADS" do
    assert_equal({"env.RAILS_MAX_THREADS" => "8"}, factors(RAILS))
    assert_equal({"env.RAILS_MAX_THREADS" => "8"}, factors(RAILS, size: 6, environment: {"RAILS_MAX_THREADS" => "6"}))
  end

  test "so is one that reads another variable, in another way, for all databases" do
    ['ENV.fetch("DB_POOL", 5)', "ENV['DB_POOL'] || 5", 'ENV.fetch("DB_POOL", "5").to_i', 'ENV.fetch("DB_POOL") { ENV.fetch("THREADS", 5) }'].each do |code|
      assert_equal({"env.DB_POOL" => "8"}, factors("one:\n  pool: <%= #{code} %>  # places\n# pool: 7\ntwo:\n  pool: <%= #{code} %>\n"), code)
    end
  end

  test "a number, what is computed, or one database's own size can't be set from outside" do
    ["pool: 5", 'pool: <%= ENV.fetch("A", 5).to_i + 2 %>', "pool: <%= Etc.nprocessors %>", "pool: <%= ENV.fetch(\"A\", 5) %>\n  pool: 5",
      "pool: <%= ENV.fetch(\"A\", 5) %>\n  pool: <%= ENV.fetch(\"B\", 5) %>", "adapter: sqlite3"].each { |line| assert_empty factors("all:\n  #{line}\n"), line }
    assert_empty factors(nil)
    # The superuser may read it all the same.
    assert_empty factors(Process.uid.zero? ? "pool: 5\n" : RAILS, permissions: 0)
  end

  test "nor can a pool whose recorded size is another than what is read there" do
    assert_empty factors(RAILS, size: 4)
    assert_empty factors(RAILS, environment: {"RAILS_MAX_THREADS" => "6"})
  end
end
