# frozen_string_literal: true

# A query that answers with a page of rows, by mysql2 or by Trilogy, whichever the variant says (MYTH_CLIENT).
require_relative "../support/gems"
LabGems.activate
require_relative "database_clients"

DATABASE = MythBusters::DatabaseClients.new(ENV.fetch("MYTH_SOCKET"))
SQL = "SELECT seq AS id, CONCAT('Article ', seq) AS title, NOW() AS published_at, seq / 7 AS score FROM mysql.seq_1_to_50"
abort("50 rows were to be read") unless DATABASE.query(SQL).size == 50

block("a page of 50 rows") { DATABASE.query(SQL) }
