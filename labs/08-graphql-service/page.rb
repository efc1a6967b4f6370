# frozen_string_literal: true

# Runs this lab, and writes what it found into its page, between the two marks there:
#
#     bin/exec ruby -Ilib labs/08-graphql-service/page.rb              # the long form, about 40 minutes, on a quiet machine
#     bin/exec ruby -Ilib labs/08-graphql-service/page.rb FINDING.json # only writes what a run has found
require "puma_tuner"

FOLDER = __dir__
ROOT = File.expand_path("../..", FOLDER)
MARKS = /(?<=<!-- measured -->\n).*?(?=<!-- \/measured -->)/m

path = ARGV.first || File.join(ROOT, "tmp/graphql_service.json")
unless ARGV.first
  system(Gem.ruby, File.join(ROOT, "exe/puma_tuner"), "lab", "run", "graphql_service", "--resume", "--output", path) || abort("the lab did not come to its end; the same command goes on where it ended")
end

finding = PumaTuner::Document.read(path, :finding)
table = lambda do |one|
  lines = [one.headings, one.headings.map { "---" }, *one.rows].map { |cells| "| #{cells.join(" | ")} |" }
  ["**#{one.title}.**", "", *lines, "", *one.notes, ""].join("\n")
end
commit = `git -C #{ROOT} rev-parse --short HEAD`.chomp
machine = finding.machine
told = "#{finding.quick ? "Short form (wide intervals)" : "Long form"}, #{finding.started_at[0, 10]}, commit #{commit}, Ruby #{RUBY_VERSION}, #{machine.cores_count} cores of #{machine.cpu_model}."
page = File.join(FOLDER, "README.md")
text = File.read(page)
text.match?(MARKS) || abort("#{page} has lost its marks")
File.write(page, text.sub(MARKS) { [told, "", *finding.conclusions.map { |one| "- #{one}" }, "", *finding.tables.map(&table)].join("\n") })
puts "written: #{page}"
