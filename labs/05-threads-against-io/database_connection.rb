# frozen_string_literal: true

begin
  require "trilogy"
rescue LoadError
  raise Demo::Companion::Failed, "the demo's database needs the gem trilogy: gem install trilogy, or add it to your Gemfile"
end

module Demo
  # A connection to database.rb's MariaDB.
  class DatabaseConnection
    # @param address [String] the socket's path
    def initialize(address)
      @client = Trilogy.new(socket: address, username: "root")
    end

    # @param milliseconds [Numeric]
    # @return [String]
    def wait(milliseconds) = @client.query("SELECT SLEEP(#{Float(milliseconds) / 1_000})").to_a.join
  end
end
