# frozen_string_literal: true

require "net/http"
require_relative "../support/puma_server"

module Scrape
  # How long scrapes keep a server in single mode from its GVL, as a thread of its own sees it that wants it all the time.
  class Held
    ENDPOINTS_COUNT = 199
    SCRAPES_PER_S = 10
    BUSY_S = 2
    SAMPLES = %i[none scraped again].freeze

    # @return [Array<Float>] of each round: microseconds that the thread waited for the GVL, for each scrape, and for as many that were not
    #   made
    attr_reader :scraped_us, :again_us

    # @return [Integer] scrapes that were answered
    attr_reader :answered_count

    def initialize(rounds_count)
      @rounds_count = rounds_count
    end

    def run
      Dir.mktmpdir("scrape", PumaTuner::Host::ScratchFolder.path) do |folder|
        @address = PumaTuner::Export::Address.parse("unix://#{folder}/exporter.sock")
        environment = {"SCRAPED_AT" => @address.to_s, "BUSY_S" => BUSY_S.to_s, "RUBYLIB" => PumaTuner::Probe::LIBRARY_FOLDER}
        Bench::PumaServer.run(rackup: File.join(__dir__, "busy.ru"), environment:, folder:) do |server|
          ENDPOINTS_COUNT.times { |number| Net::HTTP.get(URI("#{server.url}/things/#{number}")) }
          sleep(0.05) until File.socket?(@address.host_or_path)
          rounds(server)
        end
      end
    end

    private

    def rounds(server)
      random = Random.new(1)
      @answered_count = 0
      @scraped_us, @again_us = Array.new(@rounds_count) {
        before_count = @answered_count
        found = SAMPLES.shuffle(random:).to_h { |sample| [sample, waited_us(server, scraped: sample == :scraped)] }
        scrapes_count = @answered_count - before_count
        raise PumaTuner::InvalidMeasurement, "no scrape was answered within #{BUSY_S} s" if scrapes_count.zero?
        %i[scraped again].map { |sample| (found[sample] - found[:none]) / scrapes_count }
      }.transpose
    end

    def waited_us(server, scraped:)
      scraper = Thread.new { loop { @address.get && (@answered_count += 1) && sleep(1.0 / SCRAPES_PER_S) } } if scraped
      Integer(Net::HTTP.get(URI("#{server.url}/busy"))).fdiv(PumaTuner::Units::NS_PER_US)
    ensure
      scraper&.kill&.join
    end
  end
end
