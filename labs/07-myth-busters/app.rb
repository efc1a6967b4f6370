# frozen_string_literal: true

require_relative "database_clients"
require_relative "tarai"

module MythBusters
  # The lab's server in Ruby: a Rack app with the same endpoints, amounts and answers as go/main.go; /page is of Ruby's database clients alone.
  #
  # MYTH_UNITS: of work in a request, MYTH_TALK_UNITS: in one to /talk; MYTH_SLEEP_S: of its query; MYTH_MARK_IO: whether what only waits is marked so for Puma
  class App
    HEADERS = {"content-type" => "text/plain; charset=utf-8"}.freeze

    def initialize
      @database = DatabaseClients.new(ENV.fetch("MYTH_SOCKET"))
      @query = "SELECT SLEEP(#{ENV.fetch("MYTH_SLEEP_S")})"
      @units = Integer(ENV.fetch("MYTH_UNITS"))
      @talk_units = Integer(ENV.fetch("MYTH_TALK_UNITS", "0"))
      @mark_io = ENV["MYTH_MARK_IO"] == "on"
    end

    # @param env [Hash] Rack's
    # @return [Array] Rack's
    def call(env)
      case env["PATH_INFO"]
      when "/io-only" then answer(io_only(env))
      when "/cpu-only" then answer("burnt #{Tarai.burn(@units)}")
      when "/realistic", "/level" then answer(realistic(@units))
      when "/talk" then answer(realistic(@talk_units))
      when "/page" then answer(page)
      when "/tarai" then answer("tarai #{Tarai.compare}")
      else [404, {"content-type" => "text/plain; charset=utf-8", "x-content-type-options" => "nosniff"}, ["404 page not found\n"]]
      end
    end

    private

    # A hash of its own for each answer: a session adds to it.
    def answer(text) = [200, HEADERS.dup, ["#{text}\n"]]

    def sleep_in_database = @database.query(@query).join

    def io_only(env)
      env["puma.mark_as_io_bound"].call if @mark_io
      "slept #{sleep_in_database}"
    end

    def realistic(units)
      Tarai.burn(units / 2)
      slept = sleep_in_database
      "slept #{slept}, burnt #{Tarai.burn(units - units / 2)}"
    end

    # What many requests of an app do: a page of 50 rows, and a line of text made of each.
    def page = @database.query(PAGE).map { |id, title, at, score| "#{id} #{title} #{at.year} #{score.to_i}" }.join("\n")

    PAGE = "SELECT seq AS id, CONCAT('Article ', seq) AS title, TIMESTAMP('2024-10-25') AS published_at, seq / 7 AS score FROM mysql.seq_1_to_50"
    private_constant :PAGE
  end
end
