# frozen_string_literal: true

require "minitest"
require "tmpdir"

# The gems of this bundle for processes that RubyGems alone serves: a GEM_HOME of links to just the locked versions. Bundler's own set-up takes
# longer than most of what tests start, and each process of a test would do it again.
module LockedGems
  module_function

  # @return [Hash{String => String, nil}] for a Ruby that is to have them, and the project's two libraries
  def environment
    {"RUBYOPT" => nil, "BUNDLER_SETUP" => nil, "RUBYLIB" => PumaTuner::LIBRARY_PATH, "GEM_HOME" => home, "GEM_PATH" => home}
  end

  def home
    @home ||= File.realpath(Dir.mktmpdir("puma_tuner-test")).tap do |folder|
      own = Process.pid
      Minitest.after_run { FileUtils.remove_entry(folder) if Process.pid == own }
      locked = Bundler.load.specs.select { |spec| spec.loaded_from.start_with?("#{spec.base_dir}/specifications/") && !spec.default_gem? }
      [*locked, *profilers].each { |spec| link(spec, folder) }
    end
  end

  # Those that another bundle of the tests has, beside this one.
  def profilers
    names = PumaTuner::Probe::Profilers.all.filter_map { |profiler| profiler::GEM }
    Dir[File.join(Bundler.bundle_path, "specifications", "{#{names.join(",")}}-[0-9]*.gemspec")].map { |path| Gem::Specification.load(path) }
  end

  def link(spec, folder)
    [spec.full_gem_path, spec.loaded_from, spec.extension_dir].select { |path| File.exist?(path) }.each do |path|
      to = File.join(folder, path.delete_prefix(spec.base_dir))
      FileUtils.mkdir_p(File.dirname(to))
      File.symlink(path, to)
    end
  end
end
