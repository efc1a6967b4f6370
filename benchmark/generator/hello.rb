# frozen_string_literal: true

require "tmpdir"
require_relative "../overhead/series"
require_relative "../overhead/request/server"

module GeneratorBenchmark
  # The servers that are asked: Puma with an app that does next to nothing, and one in C that does even less.
  module Hello
    RACKUP = File.expand_path("../overhead/request/none.ru", __dir__)

    # @yieldparam url [String]
    def self.puma
      Dir.mktmpdir("generator") do |folder|
        Overhead::Request::Server.run(rackup: RACKUP, environment: {}, folder:) { |server| yield server.url }
      end
    rescue Overhead::Request::Server::Failed => error
      raise PumaTuner::ServerFailed, "Puma #{error.message}"
    end

    # @yieldparam url [String]
    def self.in_c = PumaTuner::Load::StallServer.run(service_s: 0, stall_s: 0) { |server| yield server.url }
  end
end
