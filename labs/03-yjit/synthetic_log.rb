# frozen_string_literal: true

require "json"

module PumaTuner
  module Labs
    # A day of a service as its access log would have it, in the combined format: nobody's data, but with the one property of
    # production that matters here. Few endpoints get most of the requests, and many get a few: the frequency of the n-th is
    # 1 / n of the first's (Zipf's law), in the order in which endpoints.txt has them.
    class SyntheticLog
      LINES = 20_000
      PLACE = /\{(\w+)\}/

      # Addresses, times and programs of nobody (RFC 5737 keeps the addresses for examples).
      BEGAN_AT = Time.utc(2026, 3, 2)
      SECONDS = 86_400

      # @param endpoints [Array<String>] "GET /products/{product}", the most frequent first
      # @param values [Hash{String => Array}] for the names in them
      # @param seed [Integer] of all chance
      def initialize(endpoints, values, seed: 3)
        @endpoints = endpoints
        @values = values
        @random = Random.new(seed)
        sums = (1..endpoints.size).each_with_object([0.0]) { |rank, all| all << all.last + 1.0 / rank }.drop(1)
        @shares = sums.map { |sum| sum / sums.last }
      end

      # Where in the order of frequency the requests stand that are left out otherwise.
      LEFT_OUT_RANK = 5

      # @param folder [String] of the service in this lab
      # @param application [String] its folder, where its set-up has left values.json
      # @param whole [Boolean] whether with those of left_out.txt, too
      # @return [SyntheticLog]
      def self.of(folder, application, whole: false, **)
        endpoints = read(folder, "endpoints.txt")
        endpoints.insert(LEFT_OUT_RANK, *read(folder, "left_out.txt")) if whole
        new(endpoints, JSON.parse(File.read(File.join(application, "values.json"))), **)
      end

      # @return [Array<String>]
      def self.read(folder, file) = File.readlines(File.join(folder, file), chomp: true).grep_v(/\A(#|\s*\z)/)

      # @param lines_count [Integer]
      # @return [Array<String>]
      def lines(lines_count = LINES)
        instants = Array.new(lines_count) { @random.rand(SECONDS) }.sort
        instants.map { |second| line(BEGAN_AT + second) }
      end

      private

      def line(time)
        http_method, target = endpoint.split(" ", 2)
        target = target.gsub(PLACE) { @values.fetch($1).sample(random: @random) }
        "192.0.2.#{1 + @random.rand(254)} - - [#{time.strftime("%d/%b/%Y:%H:%M:%S +0000")}] \"#{http_method} #{target} HTTP/1.1\" 200 #{200 + @random.rand(5_000)} \"-\" \"-\""
      end

      def endpoint
        drawn = @random.rand
        @endpoints.fetch(@shares.index { |share| drawn < share } || -1)
      end
    end
  end
end

# ruby labs/03-yjit/synthetic_log.rb labs/03-yjit/oauth APPLICATION > access.log
puts PumaTuner::Labs::SyntheticLog.of(*ARGV).lines if $PROGRAM_NAME == __FILE__
