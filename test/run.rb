# frozen_string_literal: true

# ruby -Ilib -Iprobe/lib -Itest -I. test/run.rb [KIND | FILE …] [MINITEST'S OPTIONS]: runs all tests, those of a kind or those of the given files.

require "puma_tuner"
require "support/test_run"

wanted = ARGV.take_while { |word| !word.start_with?("-") }
files = wanted.flat_map do |word|
  next TestFile.all(word) if TestFile::KINDS.include?(word)
  File.file?(word) ? TestFile.new(File.expand_path(word)) : abort("there is no test file #{word}, and no such kind of tests; kinds are #{TestFile::KINDS.join(", ")}")
end
exit TestRun.new(wanted.empty? ? TestFile.all : files, arguments: ARGV.drop(wanted.size)).call
