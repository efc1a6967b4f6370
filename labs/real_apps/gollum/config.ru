# frozen_string_literal: true

require "gollum/app"

# Gollum's own filter renders a page inside Dir.chdir, which Ruby allows one thread of a process at a time. A thread that
# renders for longer than a time slice makes the others answer "conflicting chdir during another chdir block" in the
# place of their page, with status 200 and sooner than the page would take. Markdown needs no working folder.
# To see it: the same with Gollum's filter, RUBY_THREAD_TIMESLICE=10 and labs/real_apps/check.
class Gollum::Filter::RenderInPlace < Gollum::Filter::Render
  def extract(data) = GitHub::Markup.render_s(@markup.format, data)
end

# Absolute, as __dir__ is "." in the rackup file that Puma finds by itself, and does not hold still: two threads in
# Dir.chdir at once can leave the whole process in the other's folder.
wiki = File.expand_path("wiki", __dir__)
filters = Gollum::Wiki.new(wiki).filter_chain.map { |name| (name == :Render) ? :RenderInPlace : name }

Precious::App.set(:environment, :production)
Precious::App.set(:gollum_path, wiki)
Precious::App.set(:wiki_options, {h1_title: true, filter_chain: filters})

run Precious::App
