# frozen_string_literal: true

namespace :release do
  desc "Builds both gems of the last commit into pkg/, twice for the same bytes, tries them, and writes their checksums"
  task :build do
    require_relative "release"
    release = Release.new
    puts release.build.map { |path| path.delete_prefix("#{Dir.pwd}/") }, *release.unfinished
  rescue Release::Failed => error
    abort(error.message)
  end
end
