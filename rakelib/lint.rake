# frozen_string_literal: true

namespace :lint do
  desc "The style of all Ruby files"
  task(:style) { sh("standardrb", verbose: false) }

  desc "Words that VOCABULARY.md has replaced"
  task :vocabulary do
    require_relative "../test/support/vocabulary"
    found = Vocabulary.found
    abort("#{found.join("\n")}\nVOCABULARY.md has the words to use, test/support/vocabulary.rb the patterns.") if found.any?
  end

  desc "Lines that are too wide"
  task(:lines) { ruby(*%w[-w -Ilib -Iprobe/lib -Itest -I. test/lines_test.rb], verbose: false) }

  desc "The types of the public API (sig/ of both gems)"
  task(:types) { sh(*%w[rbs -I sig -I probe/sig validate], verbose: false, out: File::NULL) }

  desc "Subjects of commits that are longer than a list of them shows"
  task :subjects do
    require_relative "commit_subjects"
    long = CommitSubjects.too_long(Dir.pwd)
    next puts("the history is not here as far back as it is checked: a shallow clone") unless long
    abort("#{long.join("\n")}\nA subject has at most #{CommitSubjects::COLUMNS_MAX} characters.") if long.any?
  end
end

desc "Of lint what no test has, beside each other"
multitask "lint:untested": %w[lint:style lint:types docs:check lint:subjects]

desc "All that can be told without running the program: style, words, lines, types, comments, subjects of commits"
task lint: %w[lint:untested lint:vocabulary lint:lines]
