# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# Builds an extension otherwise than the checkout has it.
module OtherBuilds
  PROJECT = File.expand_path("../..", __dir__)

  # @param sources [String] its folder
  # @param options [Array<String>] of its extconf.rb
  # @return [String] path of what was made, which is there until this process ends
  def self.make(sources, *options)
    folder, own = File.realpath(Dir.mktmpdir("puma_tuner-test")), Process.pid
    Minitest.after_run { FileUtils.remove_entry(folder) if Process.pid == own }
    [[RbConfig.ruby, File.join(PROJECT, sources, "extconf.rb"), *options], %w[make]].each do |words|
      output, status = Open3.capture2e(*words, chdir: folder)
      raise "#{words.join(" ")} failed:\n#{output}" unless status.success? && !output.include?("warning:")
    end
    File.join(folder, "#{File.basename(sources)}.#{RbConfig::CONFIG["DLEXT"]}")
  end
end
