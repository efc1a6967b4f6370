# frozen_string_literal: true

require "open3"
require "tmpdir"

# An app as a user has it, whose gems are not ours: a folder with a Gemfile, gems where the user has put them, and a `ruby` and
# `bundle` of a version manager's before all others on the PATH. It writes down what it runs with.
class OwnGemsApp
  GEMS = %w[puma nio4r rack].freeze

  RACKUP = <<~RUBY
    require "json"
    facts = {chosen: ENV["CHOSEN"], gem_home: ENV["GEM_HOME"], gems: Gem.loaded_specs.values_at("puma", "rack").map(&:full_gem_path),
             ours: ENV.keys.grep(/\\APUMA_TUNER_CALLER/), bundle: ENV.select { |name, _| name.start_with?("BUNDLE_") }, ruby: RUBY_VERSION}
    File.write("facts.json", JSON.generate(facts))
    run ->(_) { sleep(0.02) && [200, {"content-type" => "text/plain"}, ["fine"]] }
  RUBY

  attr_reader :folder

  def self.open
    app = new
    yield app
  ensure
    FileUtils.remove_entry(app.folder) if app
  end

  def initialize
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    write("config.ru", RACKUP)
    write("Gemfile", GEMS.map { |name| "gem #{name.dump}\n" }.join)
    %w[ruby bundle].each { |name| write("shims/#{name}", "#!/bin/sh\nCHOSEN=yes exec #{RbConfig::CONFIG["bindir"]}/#{name} \"$@\"\n", perm: 0o755) }
  end

  def write(name, text, perm: 0o644)
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text, perm:)
  end

  # @param place [String] in the folder, as GEM_HOME
  # @param names [Array<String>] of gems that are copied from this bundle
  # @return [String] its path
  def install(place, names = GEMS) = copy(names.map { |name| Gem::Specification.find_by_name(name) }, place)

  # @param gemfile [String] all of whose gems are copied, but those that Ruby has itself
  def install_bundle(place, gemfile)
    environment = Bundler.unbundled_env.merge("BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => ENV["BUNDLE_PATH"], "BUNDLE_APP_CONFIG" => ENV["BUNDLE_APP_CONFIG"]).compact
    output, status = Open3.capture2(environment, RbConfig.ruby, "-rbundler/setup", "-e", "puts Gem.loaded_specs.values.map(&:loaded_from)", unsetenv_others: true)
    raise "#{gemfile} has not been set up" unless status.success?
    copy(output.lines(chomp: true).select { |path| path.start_with?(Bundler.bundle_path.to_s) }.map { |path| Gem::Specification.load(path) }, place)
  end

  # @return [Hash] of a shell that has this app's Ruby, and nothing of ours
  def shell(**more)
    {"HOME" => Dir.home, "PATH" => "#{@folder}/shims:/usr/bin:/bin", "PUMA_TUNER_CACHE" => ENV["PUMA_TUNER_CACHE"],
     "XDG_STATE_HOME" => File.join(@folder, "state"), "BUNDLE_SILENCE_ROOT_WARNING" => "1", **more.transform_keys(&:to_s)}.compact
  end

  # @return [Hash{Symbol => Object}] what the app ran with
  def facts = JSON.parse(File.read(File.join(@folder, "facts.json")), symbolize_names: true)

  private

  def copy(specs, place)
    home = File.join(@folder, place)
    specs.each do |spec|
      files = [spec.full_gem_path, spec.loaded_from, spec.extension_dir, *spec.executables.map { |program| File.join(spec.base_dir, "bin", program) }]
      files.select { |path| File.exist?(path) }.each do |path|
        to = File.join(home, File.dirname(path.delete_prefix(spec.base_dir)))
        FileUtils.mkdir_p(to)
        FileUtils.cp_r(path, to)
      end
    end
    home
  end
end
