# frozen_string_literal: true

namespace :release do
  desc "Builds both gems of the last commit into pkg/, from source and precompiled, twice for the same bytes, tries them, and writes their checksums"
  task :build do
    require_relative "release"
    release = Release.new
    puts release.build.map { |path| path.delete_prefix("#{Dir.pwd}/") }, *release.unfinished
  rescue Release::Failed => error
    abort(error.message)
  end

  desc "Signs the checksums in pkg/ with your key: KEY=, as gpg knows it"
  task :sign do
    require_relative "release"
    key = ENV["KEY"].to_s
    abort("KEY= names the key, such as KEY=you@example.org; gpg --list-secret-keys tells which there are") if key.empty?
    puts Release.new.sign(key).map { |path| path.delete_prefix("#{Dir.pwd}/") }
  rescue Release::Failed => error
    abort(error.message)
  end
end

desc "The gems, built and installed from their files into an empty place of each Ruby of the matrix, the precompiled ones without a compiler; WRITE=1 writes what was tried into docs/compatibility.md"
task :package_test do
  require_relative "release/package_test"
  PackageTest.run(Release.new, write: ENV["WRITE"] == "1", build: -> { Rake::Task["release:build"].invoke })
rescue Release::Failed => error
  abort(error.message)
end
