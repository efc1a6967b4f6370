# frozen_string_literal: true

require "sqlite3"
require_relative "source"

module CspCollector
  # Counts by window of time, and how far each file has been read: in one SQLite database, changed in one transaction, so
  # that whatever happens to the process, a line is counted once.
  class Store
    WINDOWS_S = {"minute" => 60, "hour" => 3_600, "day" => 86_400}.freeze
    OTHER = "(other)"
    VERSION = 1

    # Of files. More than a stream has.
    POSITIONS_COUNT = 500

    # offset_bytes: read so far; head_bytes, head_digest: of the file's beginning
    Position = Data.define(:id, :head_bytes, :head_digest, :offset_bytes, :skipping)

    # lines_count: all; bad_count: no lines of a collector; other_kinds_count: reports that are not about a policy
    Tally = Data.define(:lines_count, :bad_count, :other_kinds_count)

    SCHEMA = <<~SQL
      CREATE TABLE violations (
        window_start_s INTEGER NOT NULL, directive TEXT NOT NULL, host TEXT NOT NULL, path TEXT NOT NULL, browser TEXT NOT NULL,
        noise TEXT NOT NULL, reports_count INTEGER NOT NULL, first_seen_s INTEGER NOT NULL, last_seen_s INTEGER NOT NULL,
        PRIMARY KEY (window_start_s, directive, host, path, browser, noise)
      ) WITHOUT ROWID;
      CREATE TABLE positions (
        id INTEGER PRIMARY KEY, head_bytes INTEGER NOT NULL, head_digest TEXT NOT NULL, offset_bytes INTEGER NOT NULL,
        skipping INTEGER NOT NULL
      );
      CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    SQL

    COUNT = <<~SQL
      INSERT INTO violations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET reports_count = reports_count + excluded.reports_count,
        first_seen_s = min(first_seen_s, excluded.first_seen_s), last_seen_s = max(last_seen_s, excluded.last_seen_s)
    SQL

    # What is beyond the most frequent of a window. Directives and kinds of noise are few, so they stay exact.
    REST = "FROM violations WHERE window_start_s = ?1 AND host <> '#{OTHER}' " \
           "ORDER BY reports_count DESC, directive, host, path, browser, noise LIMIT -1 OFFSET ?2"

    FOLD = <<~SQL
      INSERT INTO violations
      SELECT window_start_s, directive, '#{OTHER}', '#{OTHER}', '#{OTHER}', noise, sum(reports_count), min(first_seen_s), max(last_seen_s)
      FROM (SELECT * #{REST}) WHERE true GROUP BY directive, noise
      ON CONFLICT DO UPDATE SET reports_count = reports_count + excluded.reports_count,
        first_seen_s = min(first_seen_s, excluded.first_seen_s), last_seen_s = max(last_seen_s, excluded.last_seen_s)
    SQL

    DROP_FOLDED = <<~SQL
      DELETE FROM violations WHERE window_start_s = ?1
        AND (directive, host, path, browser, noise) IN (SELECT directive, host, path, browser, noise #{REST})
    SQL

    # @param path [String] of the database; made when it is not there
    # @param window [String] one of WINDOWS_S; a database keeps the one that it was made with
    # @param top_count [Integer] kinds of violation kept apart in each window
    # @param keep_days [Integer, nil] how long windows are kept; nil: forever
    # @raise [UsageError]
    def initialize(path, window: "hour", top_count: 1_000, keep_days: nil, clock: -> { Time.now })
      @window_s = WINDOWS_S.fetch(window)
      @top_count = top_count
      @keep_days = keep_days
      @clock = clock
      @lock = lock(path)
      @db = connect(path)
      prepare(path, window)
    rescue UsageError
      [@db, @lock].compact.each(&:close)
      raise
    end

    # @param file [File]
    # @return [Position, nil] where to read on; nil when the file does not tell yet which it is
    def position(file)
      head = Source.head(file)
      return if head.bytesize < Source::LEAST_HEAD_BYTES || !(head.include?("\n") || head.bytesize == Source::HEAD_BYTES)
      rows = @db.execute("SELECT id, head_bytes, head_digest, offset_bytes, skipping FROM positions WHERE head_bytes <= ? ORDER BY head_bytes DESC, id DESC", [head.bytesize])
      digests = Hash.new { |known, bytes| known[bytes] = Source.digest(head.byteslice(0, bytes)) }
      row = rows.find { |_, bytes, digest| digests[bytes] == digest }
      Position.new(id: row&.first, head_bytes: head.bytesize, head_digest: digests[head.bytesize], offset_bytes: row ? row[3] : 0,
        skipping: row ? row[4] == 1 : false)
    end

    # @param counts [Hash{Array(Integer, Violation) => Array(Integer, Integer, Integer)}] window and violation => count, first
    #   and last seen, in seconds
    # @param tally [Tally]
    # @param at [Position, nil] of the file as it was before the chunk; nil when it can't be read again
    # @param chunk [Source::Chunk, nil]
    def commit(counts, tally, at: nil, chunk: nil)
      @db.transaction(:immediate) do
        advance(at, chunk) if at
        counts.each { |(start_s, violation), numbers| count.execute([start_s, *violation.to_h.values, *numbers]) }
        counts.each_key.map(&:first).uniq.each { |start_s| fold(start_s) }
        tally.to_h.each { |name, value| add(name, value) }
        drop_old
      end
    end

    # @return [Integer] where its window begins
    def window_start_s(seen_at_s) = seen_at_s - seen_at_s % @window_s

    # @return [Hash{String => Integer}] since the database was made
    def tallies = @db.execute("SELECT name, value FROM tallies").to_h

    def close
      @count&.close
      @db.close
      @lock.close
    end

    private

    # Two who read on from the same place would count twice. A file of its own, as SQLite has locks on the database; it goes
    # with the process, however that ends.
    def lock(path)
      file = File.open("#{path}.lock", File::RDWR | File::CREAT, 0o600)
      return file if file.flock(File::LOCK_EX | File::LOCK_NB)
      raise UsageError, "another process is counting into #{path}; stop it first, or name another database"
    rescue SystemCallError => error
      raise UsageError, "#{path} can't be used as a database: #{error.message}"
    end

    def connect(path)
      db = SQLite3::Database.new(path)
      db.busy_timeout = 10_000
      # Readers go on while this writes; a killed process loses nothing, a power failure at most the last transactions whole.
      db.execute("PRAGMA journal_mode = WAL")
      db.execute("PRAGMA synchronous = NORMAL")
      db
    rescue SQLite3::Exception => error
      raise UsageError, "#{path} can't be used as a database: #{error.message}"
    end

    def prepare(path, window)
      @db.transaction(:immediate) do
        version = @db.get_first_value("PRAGMA user_version")
        raise UsageError, "#{path} was made by another version of this program; name another database" unless [0, VERSION].include?(version)
        create(window) if version.zero?
      end
      kept = @db.get_first_value("SELECT value FROM settings WHERE name = 'window'")
      raise UsageError, "#{path} counts by the #{kept}; say --window #{kept}, or name another database" if kept != window
    end

    def create(window)
      @db.execute_batch(SCHEMA)
      @db.execute("INSERT INTO settings VALUES ('window', ?)", [window])
      @db.execute("PRAGMA user_version = #{VERSION}")
    end

    def count = @count ||= @db.prepare(COUNT)

    def advance(position, chunk)
      values = [position.head_bytes, position.head_digest, position.offset_bytes + chunk.bytes, chunk.skipping ? 1 : 0]
      if position.id
        @db.execute("UPDATE positions SET head_bytes = ?, head_digest = ?, offset_bytes = ?, skipping = ? WHERE id = ?", [*values, position.id])
      else
        @db.execute("INSERT INTO positions (head_bytes, head_digest, offset_bytes, skipping) VALUES (?, ?, ?, ?)", values)
        @db.execute("DELETE FROM positions WHERE id NOT IN (SELECT id FROM positions ORDER BY id DESC LIMIT ?)", [POSITIONS_COUNT])
      end
    end

    # Not before there are twice as many as are kept: what is new begins as the least frequent, and gets time to grow.
    def fold(start_s)
      rows_count = @db.get_first_value("SELECT count(*) FROM violations WHERE window_start_s = ? AND host <> '#{OTHER}'", [start_s])
      return if rows_count <= 2 * @top_count
      [FOLD, DROP_FOLDED].each { |sql| @db.execute(sql, [start_s, @top_count]) }
    end

    def add(name, value)
      return if value.zero?
      @db.execute("INSERT INTO tallies VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value", [name.to_s, value])
    end

    def drop_old
      return unless @keep_days
      @db.execute("DELETE FROM violations WHERE window_start_s < ?", [window_start_s(@clock.call.to_i - @keep_days * 86_400)])
    end
  end
end
