# frozen_string_literal: true

# Writes a wiki of 300 pages and its history to stdout, as a stream for `git fast-import`. Every run writes the same
# bytes, commit ids included: all chance is one seeded Random, asked in a fixed order, and the dates are made up.
# Page lengths have a long tail, so that requests for pages differ in what they need.

class WikiWriter
  FOLDERS = %w[handbook services/storage services/search services/billing runbooks decisions teams/onboarding].freeze
  KINDS = %w[Backup Cache Calendar Catalogue Deploy Index Invoice Ledger Mailer Metrics Queue Report Restore Schedule
    Session Upload].freeze
  MANNERS = %w[Annual Daily Distributed Encrypted External Fast Hidden Incremental Internal Legacy Manual Nightly
    Partial Public Rolling Shared Small Weekly].freeze
  ACTORS = ["The scheduler", "Every worker", "The primary database", "Our load balancer", "A nightly job", "The client",
    "Whoever is on call", "The old importer", "The second region"].freeze
  DEEDS = ["retries", "refuses", "records", "compares", "forwards", "compresses", "signs", "expires", "rebuilds"].freeze
  THINGS = ["each unfinished upload", "the invoice of last month", "stale sessions", "a list of **known hosts**",
    "the `orders` table", "every message older than a day", "requests without a token", "the search index"].freeze
  REASONS = ["before the first deploy of the day", "unless the queue is _empty_", "because disks used to fill up",
    "when nobody has touched it for a week", "so that a restart loses nothing", "as agreed in spring",
    "after the third failure"].freeze
  CODE = {
    "ruby" => ["def retry_after(attempt)", "  # Doubles, and never waits for more than a minute.",
      "  [2**attempt, 60].min", "end", "", "store.each_expired { |entry| entry.delete if entry.age > limit }"],
    "sql" => ["SELECT customer_id, SUM(amount) AS total", "FROM invoices", "WHERE paid_at IS NULL AND due_on < '2023-06-01'",
      "GROUP BY customer_id", "HAVING SUM(amount) > 100", "ORDER BY total DESC;"],
    "json" => ["{", "  \"name\": \"restore\",", "  \"retries\": 3,", "  \"hosts\": [\"one.example\", \"two.example\"],",
      "  \"verbose\": false", "}"],
    "bash" => ["for host in one.example two.example; do", "  ssh \"$host\" 'df -h /var | tail -n 1'", "done",
      "echo \"checked at $(date)\""]
  }.freeze
  AUTHORS = ["Ada Berg <ada@wiki.example>", "Jun Costa <jun@wiki.example>", "Mia Dahl <mia@wiki.example>",
    "Otto Eze <otto@wiki.example>"].freeze
  PAGES_PER_COMMIT = 10
  EDITS = 250
  FIRST_COMMIT_AT = 1_672_650_000
  SECONDS_BETWEEN_COMMITS = 7_200

  def initialize(output, random: Random.new(20_230_102), page_count: 300)
    @output = output
    @random = random
    @commit_count = 0
    # One place each in a round over folders, kinds and manners; 16 and 18 share 2, hence the shift once per 144.
    @names = Array.new(page_count - 1) do |index|
      "#{FOLDERS[index % FOLDERS.size]}/#{MANNERS[(index + index / 144) % MANNERS.size]}-#{KINDS[index % KINDS.size]}"
    end
    raise "two pages would have one name" if @names.uniq.size < @names.size
  end

  def write
    commit("Begin the wiki", "Home.md" => home, "_Sidebar.md" => sidebar, "_Footer.md" => "Seen something wrong? Edit it.\n")
    pages = @names.to_h { |name| ["#{name}.md", page(name)] }
    pages.each_slice(PAGES_PER_COMMIT) { |slice| commit("Write #{title(slice.first.first)} and others", slice.to_h) }
    EDITS.times do
      path = pick(pages.keys)
      pages[path] += "\n## Note #{@commit_count}\n\n#{paragraph}\n"
      commit("Add a note to #{title(path)}", path => pages[path])
    end
    @output.puts "done"
  end

  private

  def commit(message, files)
    seconds = FIRST_COMMIT_AT + @commit_count * SECONDS_BETWEEN_COMMITS
    author = AUTHORS[@commit_count % AUTHORS.size]
    @commit_count += 1
    @output.puts "commit refs/heads/main", "author #{author} #{seconds} +0000", "committer #{author} #{seconds} +0000"
    data(message)
    files.each do |path, text|
      @output.puts "M 100644 inline #{path}"
      data(text)
    end
  end

  def data(text)
    @output.puts "data #{text.bytesize}", text
  end

  def home
    folders = FOLDERS.map do |folder|
      "## #{folder.capitalize}\n\n" + @names.select { |name| name.start_with?("#{folder}/") }.first(8).map { |name| "* #{link(name)}\n" }.join
    end
    "# Home\n\nWhat we know about our systems, and where to read on.\n\n#{folders.join("\n")}"
  end

  def sidebar = "* [[Home|/Home]]\n" + FOLDERS.map { |folder| "* #{link(@names.find { |name| name.start_with?("#{folder}/") })}\n" }.join

  def page(name)
    # The square of an even chance: most pages are short, a few have 20 sections.
    section_count = 2 + (18 * @random.rand**2).round
    contents = (section_count > 8) ? "[[_TOC_]]\n\n" : ""
    "# #{title(name)}\n\n#{contents}#{paragraph}\n\n" + Array.new(section_count) { |index| section(index) }.join("\n")
  end

  def section(index)
    body = case @random.rand(5)
    when 0 then list
    when 1 then code
    when 2 then table
    else paragraph
    end
    "## #{index + 1}. #{pick(KINDS)} and #{pick(KINDS).downcase}\n\n#{paragraph}\n\n#{body}\n\nSee also #{link(pick(@names))}.\n"
  end

  def paragraph = Array.new(2 + @random.rand(4)) { sentence }.join(" ")

  def sentence
    reference = (@random.rand(6) == 0) ? " (#{link(pick(@names))})" : ""
    "#{pick(ACTORS)} #{pick(DEEDS)} #{pick(THINGS)} #{pick(REASONS)}#{reference}."
  end

  def list = Array.new(3 + @random.rand(4)) { "* #{sentence}\n    1. #{sentence}\n    2. #{sentence}\n" }.join

  def code
    language = pick(CODE.keys)
    "```#{language}\n#{CODE.fetch(language).join("\n")}\n```"
  end

  def table
    rows = Array.new(3 + @random.rand(6)) { "| #{pick(KINDS)} | #{@random.rand(10_000)} | #{pick(REASONS)} |\n" }
    "| what | how many | why |\n|---|---:|---|\n#{rows.join}"
  end

  def link(name) = "[[#{title(name)}|/#{name}]]"

  def title(name) = File.basename(name, ".md").tr("-", " ")

  def pick(list) = list[@random.rand(list.size)]
end

$stdout.binmode
WikiWriter.new($stdout).write
