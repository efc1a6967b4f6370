# frozen_string_literal: true

namespace :docs do
  desc "Writes what is made of the code: docs/reference/commands.md, documents.md and schemas, and the manual page"
  task reference: :man do
    require_relative "reference"
    mkdir_p(File.join(Reference::FOLDER, "schemas"), verbose: false)
    Reference.pages.merge(Reference.schemas).each { |path, text| File.write(path, text) }
  end

  desc "Looks at real reports (demo, lab, fleet, Solidus) in Chromium: wide, narrow, light, dark, printed; pictures in tmp/looks; AGAIN=1: at those that are there"
  task looks: :compile do
    require_relative "looks"
    looks = Looks.new
    left_out = (ENV["AGAIN"] == "1") ? [] : looks.make
    seen = looks.look { |one| puts one }
    puts(*left_out, "docs:looks: #{seen.count(&:fine?)} of #{seen.size} pages are fine; their pictures are in #{Looks::PLACE.delete_prefix("#{Dir.pwd}/")}")
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
  if write
    require_relative "../benchmark/support/bench"
    made = Bench::Provenance.line(PumaTuner::Probe::MachineFacts.read)
  end
  walk = DocsWalk.new(names, quick:)
  fine = Bundler.with_unbundled_env { walk.call }
  if write
    path = "docs/measured/reliability.md"
    File.write(path, Bench::Page.joined(File.read(path), DocsWalk.section(walk.lines, made)))
  end
  exit(1) unless fine
  exit(3) if write && !walk.proven?
end
