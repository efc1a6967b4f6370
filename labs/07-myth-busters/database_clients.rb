# frozen_string_literal: true

module MythBusters
  # Connections to the lab's MariaDB, by either of the two gems, lent to one request at a time and kept.
  #
  # MYTH_SOCKET: where it listens; MYTH_CLIENT: trilogy or mysql2
  class DatabaseClients
    CLIENT = ENV.fetch("MYTH_CLIENT", "trilogy")
    require CLIENT

    # @param socket [String] path
    def initialize(socket)
      @socket = socket
      empty
    end

    # @param sql [String]
    # @return [Array] rows
    def query(sql)
      # A forked worker must not speak on its parent's connections.
      empty unless @process == Process.pid
      # Array#pop and #push are atomic under the GVL: no lock of ours is part of what is measured.
      connection = @idle.pop || connect
      rows = connection.query(sql).to_a
      @idle.push(connection)
      rows
    end

    private

    def empty
      @process = Process.pid
      @idle = []
    end

    def connect
      return Trilogy.new(socket: @socket, username: "root") if CLIENT == "trilogy"
      Mysql2::Client.new(socket: @socket, username: "root", as: :array)
    end
  end
end
