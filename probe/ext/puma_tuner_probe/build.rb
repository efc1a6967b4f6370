# frozen_string_literal: true

# Compiles this extension for the Ruby that runs this: ruby build.rb TARGET. Probe::Extension calls it for an app on another Ruby than ours.

require "fileutils"
require "rbconfig"
require "tmpdir"

target = ARGV.fetch(0)
FileUtils.mkdir_p(File.dirname(target))
File.open("#{target}.lock", "w") do |lock|
  lock.flock(File::LOCK_EX)
  next if File.exist?(target) # another server's start has done it meanwhile
  Dir.mktmpdir do |folder|
    built = File.join(folder, File.basename(target))
    system(RbConfig.ruby, "--disable-gems", File.join(__dir__, "extconf.rb"), chdir: folder) && system("make", chdir: folder)
    abort("no extension came of it; is there a C compiler, make, and the headers of Ruby #{RUBY_VERSION}?") unless File.exist?(built)
    FileUtils.cp(built, "#{target}.partial")
    File.rename("#{target}.partial", target)
  end
end
