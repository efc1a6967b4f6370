# frozen_string_literal: true

require "json"
require "net/http"
require "support/own_gems_app"
require "support/packed_gems"

# A Rails app as `rails new` makes it, with one resource in a database, in production; its gems and both packed ones are installed in a
# place of its own, and its Gemfile names the probe alone.
class RailsApp
  BUNDLE = File.join(PackedGems::PROJECT, "gemfiles/rails_8_1.gemfile")

  # Instead of `rails`, which brings frameworks that a minimal app does without.
  PARTS = %w[activerecord railties].freeze

  # For development.
  DEBUGGER = /^ *gem "debug".*\n/

  # What Ruby has loaded, and the gems that it came from, of the process that serves.
  LOADED = <<~RUBY
    Rails.application.routes.append do
      get "loaded", to: ->(_) { [200, {}, [JSON.generate(gems: Gem.loaded_specs.keys, files: $LOADED_FEATURES)]] }
      get "budget", to: ->(_) { [200, {}, [PumaTuner.snapshot.then { |snapshot| JSON.generate(endpoints: snapshot.endpoints.map(&:name), budget: snapshot.budget.to_document) }]] }
    end
  RUBY

  attr_reader :folder, :home

  def initialize
    @place = OwnGemsApp.new
    Minitest.after_run { FileUtils.remove_entry(@place.folder) }
    @home = PackedGems.install_into(@place.install_bundle("home", BUNDLE))
    @place.install("home", PackedGems::DEPENDENCIES)
    @folder = File.join(@place.folder, "shop")
    rails_new
  end

  # @return [Hash{String => String}] of a user's shell
  def environment
    @place.shell(GEM_HOME: @home, PUMA_TUNER_INTERVAL_S: "0.5", RAILS_ENV: "production", RAILS_LOG_LEVEL: "warn", DATABASE_URL: "sqlite3:storage/production.sqlite3", BUNDLE_GEMFILE: File.join(@folder, "Gemfile"))
  end

  # @param gem_line [String] of the Gemfile
  # @param puma_lines [String] at the end of config/puma.rb
  def write(gem_line, puma_lines: "")
    File.write(File.join(@folder, "Gemfile"), "#{@gemfile}#{gem_line}\n")
    File.write(File.join(@folder, "config/puma.rb"), "#{@puma_rb}#{puma_lines}")
    run("bundle", "install", "--local")
  end

  # @yieldparam port [Integer] of a real Puma
  # @yieldparam output [String] all that it prints, as it comes
  # @return [String]
  def serve
    output = +""
    server = IO.popen([environment, "bundle", "exec", "puma", "--bind", "tcp://127.0.0.1:0"], chdir: @folder, err: %i[child out], unsetenv_others: true)
    while (line = server.gets)
      output << line
      break if (port = line[%r{Listening on http://127\.0\.0\.1:(\d+)}, 1])
    end
    port or raise "it does not serve:\n#{output}"
    reader = Thread.new { server.each_line { |text| output << text } }
    yield port.to_i, output
    output
  ensure
    stop(server, reader)
  end

  # @return [String] what it printed
  def run(*words)
    output, status = Open3.capture2e(environment, *words, chdir: @folder, unsetenv_others: true)
    raise "#{words.join(" ")} failed:\n#{output}" unless status.success?
    output
  end

  private

  # At once, as ServedApp#close does.
  def stop(server, reader)
    return unless server
    Process.kill(:KILL, server.pid)
    reader&.join
    server.close
  end

  def rails_new
    Dir.mkdir(@folder)
    Open3.capture2e(environment.except("BUNDLE_GEMFILE"), "ruby", "#{@home}/bin/rails", "new", @folder, "--minimal", "--skip-bundle", "--skip-git", "--skip-docker", "--skip-dev-gems",
      "--skip-asset-pipeline", unsetenv_others: true)
    @gemfile = File.read(File.join(@folder, "Gemfile")).sub(/^gem "rails".*$/, PARTS.map { |name| "gem #{name.dump}" }.join("\n")).sub(DEBUGGER, "")
    @puma_rb = File.read(File.join(@folder, "config/puma.rb"))
    File.write(File.join(@folder, "config/initializers/loaded.rb"), LOADED)
    write("")
    run("bundle", "exec", "rails", "generate", "scaffold", "article", "title:string", "--no-test-framework")
    File.write(File.join(@folder, "db/seeds.rb"), "3.times { |number| Article.create!(title: \"Article \#{number}\") }")
    run("bundle", "exec", "rails", "db:migrate", "db:seed")
  end
end
