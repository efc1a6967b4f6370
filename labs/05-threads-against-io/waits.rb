# frozen_string_literal: true

require_relative "companion"

module Demo
  # What the app waits for: the upstream of our own, or a database when PUMA_TUNER_DEMO_DATABASE names one. Either is a
  # process beside the server, asked over a socket.
  module Waits
    CHOICE = "PUMA_TUNER_DEMO_DATABASE"
    # How long each takes to come up at worst.
    LIMITS_S = {"upstream" => 15, "database" => 90}.freeze

    module_function

    # Starts what is waited for. For config.ru: forked workers know the address from the process that loaded the app.
    # @raise [Companion::Failed]
    def prepare
      require_relative "#{kind}_connection"
      @address = Companion.start(kind, limit_s: LIMITS_S.fetch(kind))
    end

    # Waits on this thread's own connection, opened when first needed and kept.
    # @param milliseconds [Numeric]
    # @return [String] what was answered
    def wait(milliseconds)
      kept = Thread.current.thread_variable_get(:demo_connection)
      # After a fork the connection is the parent's.
      connection = (kept && kept.first == Process.pid) ? kept.last : connect
      Thread.current.thread_variable_set(:demo_connection, nil)
      answer = connection.wait(milliseconds)
      # Only now: one that failed is not used again.
      Thread.current.thread_variable_set(:demo_connection, [Process.pid, connection])
      answer
    end

    # @return [UpstreamConnection, DatabaseConnection] a new connection, for whoever keeps it
    def connect = (kind == "upstream") ? UpstreamConnection.new(@address) : DatabaseConnection.new(@address)

    def kind
      case choice = ENV[CHOICE].to_s
      when "" then "upstream"
      when "mariadb" then "database"
      else raise Companion::Failed, "#{CHOICE}=#{choice}: only mariadb is known; leave it out to wait for a small upstream process"
      end
    end
  end
end
