# frozen_string_literal: true

# Asked before a run of which docs/measured/reliability.md is to have a section.
#
# @return [String] with what it is made
def made_with
  require_relative "../benchmark/support/bench"
  Bench::Provenance.line(PumaTuner::Probe::MachineFacts.read)
end

# @param section [String] of docs/measured/reliability.md, whose other sections stay
# @return [void]
def write_section(section)
  path = "docs/measured/reliability.md"
  File.write(path, Bench::Page.joined(File.read(path), section))
end

namespace :docs do
  desc "Writes what is made of the code: docs/reference/commands.md, documents.md and schemas, and the manual page"
  task reference: :man do
    require_relative "reference"
    mkdir_p(File.join(Reference::FOLDER, "schemas"), verbose: false)
    Reference.pages.merge(Reference.schemas).each { |path, text| File.write(path, text) }
  end

  desc "Looks at real reports (demo, lab, fleet, Solidus) in Chromium: wide, narrow, light, dark, printed; pictures " \
    "in tmp/looks; AGAIN=1: at those of the run before; WRITE=1: what it finds goes into docs/measured/reliability.md"
  task looks: :compile do
    require_relative "looks"
    again, write = ENV["AGAIN"] == "1", ENV["WRITE"] == "1"
    abort("WRITE=1 needs new pages, and no AGAIN=1") if again && write
    made = made_with if write
    looks = Looks.new
    left_out = again ? looks.again : looks.make
    seen = looks.look { |one| puts one }
    place = Looks::PLACE.delete_prefix("#{Dir.pwd}/")
    puts(*left_out, "docs:looks: #{Looks.closing(seen)}; their pictures are in #{place}")
    write_section(Looks.section(seen, left_out, made)) if write
    exit(1) unless seen.all?(&:fine?)
    exit(3) if left_out.any?
  rescue RuntimeError => error
    abort(error.message)
  end

  desc "Pictures of a report and README's excerpt, of a new run of the demo (some ten minutes); FROM=TUNING: of that one"
  task screens: [:compile, "screens:live"] do
    require_relative "screens"
    Screens.new(ENV.fetch("FROM") { Screens.measure }).write
  end

  desc "Pictures of top and of threads over time alone, of the demo while it serves (some two minutes)"
  task "screens:live": :compile do
    require_relative "live_screens"
    LiveScreens.new.write
  end
end

desc "Runs what README, getting started and the guides show, on a new Rails app (about an hour); PAGES=yjit,ci: those; QUICK=1; WRITE=1 of all pages: its lines go into docs/measured/reliability.md"
task :docs_test do
  require_relative "docs_walk"
  names, quick, write = ENV.fetch("PAGES", "").split(","), ENV["QUICK"] == "1", ENV["WRITE"] == "1"
  abort("WRITE=1 needs all pages, and no QUICK=1") if write && (quick || names.any?)
  made = made_with if write
  walk = DocsWalk.new(names, quick:)
  fine = Bundler.with_unbundled_env { walk.call }
  write_section(DocsWalk.section(walk.lines, made)) if write
  exit(1) unless fine
  exit(3) if write && !walk.proven?
end
