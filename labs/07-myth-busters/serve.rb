# frozen_string_literal: true

# What each Ruby server of this lab begins with: the gems of its variant, then Puma or Falcon on config.ru.
#
#     serve.rb puma            where and with how many threads, the launcher says (probe/lib/puma_tuner/probe/launch.rb)
#     serve.rb falcon PORT
require_relative "../support/gems"
LabGems.activate

rackup = File.join(__dir__, "config.ru")
case ARGV.fetch(0)
when "puma"
  require "puma/cli"
  if ENV["MYTH_FIX_IO"] == "on"
    require "puma/server"
    require_relative "fixed_io_threads"
  end
  Puma::CLI.new(["--silent", rackup]).run
when "falcon"
  require "async"
  require "async/http/endpoint"
  require "falcon/server"
  require "rack/builder"
  # One process and one thread, and a fiber to a request: what waits for the database lets the others go on.
  Async do
    app = Falcon::Server.middleware(Rack::Builder.parse_file(rackup), cache: false) # its cache would answer in the place of the app
    Falcon::Server.new(app, Async::HTTP::Endpoint.parse("http://127.0.0.1:#{Integer(ARGV.fetch(1))}")).run
  end
else abort("serve.rb puma, or serve.rb falcon PORT")
end
