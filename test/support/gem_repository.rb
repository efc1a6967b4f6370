# frozen_string_literal: true

require "rubygems/package"
require "zlib"

# A gem server in a folder, with gems of a single file: what a Gemfile can take gems from without a network.
module GemRepository
  # @param folder [String]
  # @param gems [Hash{String => Hash{String => String}}] name => version => the Ruby of lib/NAME.rb
  # @return [String] for `source` in a Gemfile
  def self.make(folder, gems)
    specs = gems.flat_map { |name, versions| versions.map { |version, ruby| package(folder, name, version, ruby) } }
    names = specs.map { |spec| [spec.name, spec.version, "ruby"] }
    {"specs.4.8" => names, "latest_specs.4.8" => names, "prerelease_specs.4.8" => []}.each do |file, content|
      File.binwrite(File.join(folder, "#{file}.gz"), Zlib.gzip(Marshal.dump(content)))
    end
    "file://#{folder}"
  end

  def self.package(folder, name, version, ruby)
    spec = Gem::Specification.new(name, version) do |s|
      s.summary = s.description = name
      s.authors = ["a test"]
      s.license = "MIT"
      s.homepage = "http://localhost"
      s.files = ["lib/#{name}.rb"]
    end
    Dir.mktmpdir do |work|
      Dir.mkdir(File.join(work, "lib"))
      File.write(File.join(work, "lib/#{name}.rb"), ruby)
      built = Dir.chdir(work) { Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec) } }
      FileUtils.mkdir_p(%w[gems quick/Marshal.4.8].map { |part| File.join(folder, part) })
      FileUtils.mv(File.join(work, built), File.join(folder, "gems"))
    end
    File.binwrite(File.join(folder, "quick/Marshal.4.8/#{spec.full_name}.gemspec.rz"), Zlib.deflate(Marshal.dump(spec)))
    spec
  end
  private_class_method :package
end
