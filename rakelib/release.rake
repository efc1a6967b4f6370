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
end

desc "The gems in pkg/ from their files in an empty place of each Ruby that is here, the precompiled ones without a compiler"
task package_test: "release:build" do
  Release.new.try_everywhere { |line| puts line }
rescue Release::Failed => error
  abort(error.message)
end
