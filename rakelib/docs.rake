# frozen_string_literal: true

namespace :docs do
  desc "Writes what is made of the code: docs/reference/commands.md, documents.md and schemas, and the manual page"
  task reference: :man do
    require_relative "reference"
    mkdir_p(File.join(Reference::FOLDER, "schemas"), verbose: false)
    Reference.pages.merge(Reference.schemas).each { |path, text| File.write(path, text) }
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

desc "Runs what README, getting started and the guides show, on a new Rails app (about an hour); PAGES=yjit,ci: those; QUICK=1"
task :docs_test do
  require_relative "docs_walk"
  walk = DocsWalk.new(ENV.fetch("PAGES", "").split(","), quick: ENV["QUICK"] == "1")
  Bundler.with_unbundled_env { walk.call } || exit(1)
end
