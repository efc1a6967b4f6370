# frozen_string_literal: true

require "open3"
require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # The story's own tool, `ab`, beside our generator: both open a connection for each request.
      class ApacheBench
        # by_ab_per_s, ours_per_s: throughput
        Check = Data.define(:name, :asked, :by_ab_per_s, :ours_per_s)

        ENTRANTS = [Entrant.puma("1x50"), Entrant.go].freeze
        LIMIT_S = 600

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
        end

        # @return [Array<Check>]
        def call
          Lab::Again.after_void(@run) do
            @field.serving(ENTRANTS) do |stands|
              stands.product(@sizes.ab.fetch(:connections)).map { |stand, count| check(stand, Asked.closed("/realistic", count)) }
            end
          end
        end

        # @param output [String] of ab
        # @return [Float] requests per second
        # @raise [InvalidMeasurement] when not all were answered as they should be
        def self.read(output)
          failed, wrong = output[/^Failed requests:\s+(\d+)/, 1], output[/^Non-2xx responses:\s+(\d+)/, 1]
          throughput = output[/^Requests per second:\s+([\d.]+)/, 1] or raise InvalidMeasurement, "ab gave no figures. It said: #{output.lines.last(3).join.strip}"
          raise InvalidMeasurement, "ab counts #{failed} failed requests, #{wrong.to_i} of them with another status than 2xx" if failed.to_i.positive? || wrong
          Float(throughput)
        end

        private

        def check(stand, asked)
          @run.note("ab, #{stand.entrant.name}, #{asked}")
          stand.warm_up(asked, @sizes.warmup_s)
          by_ab_per_s = ab(stand, asked)
          Check.new(name: stand.entrant.name, asked:, by_ab_per_s:, ours_per_s: stand.turn(asked, ours_s(by_ab_per_s), seed: @run.seed).value("throughput"))
        end

        # About as long as ab took.
        def ours_s(by_ab_per_s) = (@sizes.ab.fetch(:requests_count) / by_ab_per_s).clamp(0.5, 60)

        def ab(stand, asked)
          command = [Packages.path_of("ab"), "-q", "-d", "-S", "-n", @sizes.ab.fetch(:requests_count).to_s, "-c", asked.connections_count.to_s,
            "#{stand.server.url}#{asked.paths.keys.first}"]
          output, = Host::Child.output_of(command, limit_s: LIMIT_S)
          self.class.read(output || "it did not end within #{LIMIT_S} s")
        end
      end
    end
  end
end
