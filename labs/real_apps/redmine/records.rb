# frozen_string_literal: true

# Runs once inside the application: 6 projects, 12 users, 400 issues with notes, 60 wiki pages, news and spent time. All chance is one seeded
# Random, so that every machine has the same rows. A session and an API key are fixed, as requests.txt sends them.

SENTENCES = ["The import stops after the first page.", "It happens on *every second* start, never on the first.",
  "See the log: @connection reset by peer@.", "This worked before the last release.", "A retry helps, but only for a while.",
  "The customer has sent a sample.", "We should write a test before we touch it.", "Nobody knows who uses this.",
  "The old format is still read, see #12.", "The numbers in the report are those of last month.", "h3. What was tried",
  "* a restart\n* another browser\n* the other server", "<pre><code class=\"ruby\">\nrows.each_slice(500) { |slice| store(slice) }\n</code></pre>"].freeze
SUBJECTS = ["Import stops halfway", "Report shows last month", "Login page is slow", "Invoice has wrong total", "Search finds deleted pages",
  "Export lacks a column", "Mail arrives twice", "Restore of a backup fails", "Calendar is off by an hour", "Upload of large files"].freeze
FIRST = %w[Ada Bela Cem Dora Emil Femi Greta Hugo Ines Jonas Kira Lena].freeze
PROJECTS = %w[Billing Search Storage Website Reporting Backup].freeze
START = Time.utc(2026, 1, 5, 9)

random = Random.new(504)
text = ->(count) { Array.new(count) { SENTENCES.sample(random:) }.join("\n\n") }

ActionMailer::Base.perform_deliveries = false
Setting.notified_events = []
Setting.rest_api_enabled = "1"
User.find_by(login: "admin").update_columns(must_change_passwd: false)

users = FIRST.map do |name|
  User.new(firstname: name, lastname: "Example", mail: "#{name.downcase}@example.com", language: "en", mail_notification: "none").tap do |user|
    user.login = name.downcase
    user.password = user.password_confirmation = "nothing here is secret"
    user.save!
  end
end
# The session of Ada and the API key of Bela.
token = ->(user, action, value) { Token.create!(user:, action:).update_columns(value:) }
token.call(users[0], "session", "5e551011" * 5)
token.call(users[1], "api", "ab1ab1ab" * 5)

roles = Role.givable.order(:position).to_a
trackers = Tracker.order(:position).to_a
statuses = IssueStatus.order(:position).to_a
priorities = IssuePriority.order(:position).to_a

PROJECTS.each_with_index do |name, index|
  project = Project.create!(name:, identifier: name.downcase, description: text.call(3), is_public: true, trackers:,
    enabled_module_names: %w[issue_tracking time_tracking news wiki calendar gantt])
  users.each_with_index { |user, at| Member.create!(project:, principal: user, roles: [roles[(at + index) % roles.size]]) }
  versions = %w[1.0 1.1 2.0].map { |number| Version.create!(project:, name: number, effective_date: START.to_date + random.rand(300)) }
  categories = %w[Interface Database Mail].map { |category| IssueCategory.create!(project:, name: category) }
  5.times { |number| News.create!(project:, author: users.sample(random:), title: "News #{number + 1} of #{name}", summary: SENTENCES.first, description: text.call(4)) }
  wiki = project.wiki || Wiki.create!(project:, start_page: "Wiki")
  ["Wiki", *(1..9).map { |number| "Chapter #{number}" }].each do |title|
    page = WikiPage.new(wiki:, title:)
    page.content = WikiContent.new(page:, author: users.sample(random:), text: "h1. #{title}\n\n{{toc}}\n\n#{text.call(20 + random.rand(40))}\n\nSee [[Wiki]] and #3.")
    page.save!
  end
  67.times do
    issue = Issue.new(project:, tracker: trackers.sample(random:), status: statuses.sample(random:), priority: priorities.sample(random:),
      author: users.sample(random:), assigned_to: users.sample(random:), category: categories.sample(random:), fixed_version: versions.sample(random:),
      subject: "#{SUBJECTS.sample(random:)} (#{name})", description: text.call(2 + random.rand(6)), start_date: START.to_date + random.rand(200),
      done_ratio: random.rand(11) * 10, estimated_hours: 1 + random.rand(40))
    issue.due_date = issue.start_date + random.rand(60)
    issue.save!
    random.rand(7).times { Journal.create!(journalized: issue, user: users.sample(random:), notes: text.call(1 + random.rand(3))) }
    random.rand(3).times do
      entry = TimeEntry.new(project:, issue:, hours: 1 + random.rand(8), spent_on: issue.start_date, activity: TimeEntryActivity.shared.first, comments: "Looked into it")
      entry.user = entry.author = users.sample(random:)
      entry.save!
    end
  end
end

# Redmine stamps what is written with the present time and shows how long ago that was: the rows would tell another text on every machine.
{Issue => %i[created_on updated_on], Journal => %i[created_on], News => %i[created_on], Project => %i[created_on updated_on],
 WikiPage => %i[created_on], WikiContent => %i[updated_on], WikiContentVersion => %i[updated_on], TimeEntry => %i[created_on updated_on]}.each do |model, columns|
  model.order(:id).ids.each { |id| model.where(id:).update_all(columns.to_h { |column| [column, START + id * 3_600] }) }
end

# requests.txt has Ada stay in the first project: the list of those she used last is as it will be.
users[0].pref[:recently_used_project_ids] = Project.order(:id).first.id.to_s
users[0].pref.save!
puts "#{Project.count} projects, #{Issue.count} issues, #{Journal.count} notes, #{WikiPage.count} wiki pages"
