# frozen_string_literal: true

require_relative "database_clients"
require_relative "tarai"

module MythBusters
  # The lab's server in Ruby: a Rack app with the same endpoints, amounts and answers as go/main.go.
  #
  # MYTH_UNITS: of work in a request; MYTH_SLEEP_S: of its query; MYTH_MARK_IO: whether what only waits is marked so for Puma
  class App
    HEADERS = {"content-type" => "text/plain; charset=utf-8"}.freeze

    def initialize
      @database = DatabaseClients.new(ENV.fetch("MYTH_SOCKET"))
      @query = "SELECT SLEEP(#{ENV.fetch("MYTH_SLEEP_S")})"
      @units = Integer(ENV.fetch("MYTH_UNITS"))
      @mark_io = ENV["MYTH_MARK_IO"] == "on"
    end

    # @param env [Hash] Rack's
    # @return [Array] Rack's
    def call(env)
      case env["PATH_INFO"]
      when "/io-only" then answer(io_only(env))
      when "/cpu-only" then answer("burnt #{Tarai.burn(@units)}")
      when "/realistic", "/level" then answer(realistic)
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

    def realistic
      Tarai.burn(@units / 2)
      slept = sleep_in_database
      "slept #{slept}, burnt #{Tarai.burn(@units - @units / 2)}"
    end
  end
end
