# frozen_string_literal: true

require "etc"
require_relative "cost"
require_relative "grid"
require_relative "talk"

module PumaTuner
  module Labs
    class MythBusters
      # Claims that hold a Puma against Go.
      class ClaimsOfServers
        PUMA, GO, YJIT = [Grid::PUMA, Grid::GO, Grid::YJIT].map(&:name)
        TARAI = (5.0..15.0)
        COST = (3.0..10.0)

        # @param measured [Measured]
        # @param cores_count [Integer] of the machine that served
        def initialize(measured, cores_count: Etc.nprocessors)
          @measured = measured
          @cores_count = cores_count
          @grid = measured.grid
          @capacity = measured.capacity
        end

        # @return [Array<Lab::Claim>]
        def all = [*io_only, cpu_only, *realistic, *tarai, *scaling, *processes, memory, *talk, *costs].compact

        private

        def clients(asked) = "#{asked.connections_count} #{(asked.connections_count == 1) ? "client" : "clients"}"

        def io_only
          most, one = @measured.most("/io-only"), @measured.one("/io-only")
          equal = @grid.ratio("throughput", most, of: PUMA, over: GO)
          [Lab::Claim.of_ratio("io-only: Puma is as fast as Go, #{clients(most)}", equal, published: "equal", published_ratio: 1,
            note: "Puma has 50 threads; with fewer than clients it would queue."), *scales(most, one)]
        end

        def scales(most, one)
          return [] if most == one
          [PUMA, GO].map do |name|
            Lab::Claim.of_ratio("io-only: #{name} scales, #{clients(most)} over #{clients(one)}", @grid.ratio_of_loads("throughput", name, of: most, over: one),
              published: "scales with the clients", published_ratio: most.connections_count.fdiv(one.connections_count))
          end
        end

        def cpu_only
          most = @measured.most("/cpu-only")
          Lab::Claim.of_ratio("cpu-only: Go is far ahead of Puma, #{clients(most)}", @grid.ratio("throughput", most, of: GO, over: PUMA), published: "far behind",
            published_ratio: Lab::Claim::HIGHER, note: "The same work, one process of each: two causes in one, the language and the GVL.")
        end

        def realistic
          one, most = @measured.one("/realistic"), @measured.most("/realistic")
          [
            Lab::Claim.of_ratio("realistic: Puma has so much of Go's throughput, #{clients(one)}", @grid.ratio("throughput", one, of: PUMA, over: GO), published: "about 70%", published_ratio: 0.7,
              note: "30% of the request is CPU in Ruby, and next to nothing in Go: what is left is the 70% of IO."),
            Lab::Claim.of_ratio("realistic: the same, #{clients(most)}", @grid.ratio("throughput", most, of: PUMA, over: GO), published: "about 70%", published_ratio: 0.7),
            Lab::Claim.of_ratio("realistic, but as much CPU time in Go: the same, #{clients(@measured.most("/level"))}", @grid.ratio("throughput", @measured.most("/level"), of: PUMA, over: GO),
              note: "Ours: what is left when the language is no faster, which is the GVL's part.")
          ]
        end

        def tarai
          {PUMA => "without YJIT", YJIT => "with YJIT"}.map do |name, words|
            measured = @measured.languages.ratio("mean", Grid::TARAI, of: name, over: GO)
            Lab::Claim.of_ratio("tarai: Go is faster than Ruby #{words}", measured, published: "5 to 15 times", published_ratio: TARAI)
          end
        end

        def first_topology = "Puma #{@measured.sizes.topologies.first}"

        # As many processes as were published; not the most that were measured.
        def published_topology = "Puma #{@measured.sizes.topologies.find { |topology| topology.start_with?("#{Inversion::PROCESSES_COUNT}x") }}"

        def scaling
          [[@capacity.realistic, "the same work"], [@capacity.level, "as much CPU time"]].map do |asked, words|
            Lab::Claim.of_ratio("realistic, #{words}: Go goes on where one process of Puma stops, #{clients(asked)}",
              @capacity.rounds.ratio("throughput", asked, of: GO, over: first_topology), published: "1,200 against 600 requests/s", published_ratio: 2.0)
          end
        end

        def processes
          two = "Puma #{@measured.sizes.topologies.find { |topology| topology.start_with?("2x") }}"
          [
            *[[@capacity.realistic, "the same work"], [@capacity.level, "as much CPU time"]].map do |asked, words|
              measured = @capacity.rounds.ratio("throughput", asked, of: GO, over: two)
              Lab::Claim.of_ratio("realistic, #{words}: two processes of Puma do not match Go", measured, published: "at least 3 processes",
                published_ratio: Lab::Claim::HIGHER, note: "Above 1: they do not.")
            end,
            *[[@capacity.realistic, "the same work"], [@capacity.level, "as much CPU time"]]
              .map { |asked, words| needed("realistic, #{words}", @capacity.rounds, asked, @measured.sizes.topologies) }
          ]
        end

        # Told only: a number of processes has no ratio. What the cores allow is said where nobody got there.
        def needed(text, rounds, asked, topologies)
          count = matching_count(rounds, asked, topologies)
          Lab::Claim.of_number("#{text}: processes that match Go's throughput at no higher p99",
            count && Stats::Estimate.new(value: count, low: count, high: count, level_ratio: nil, samples_count: @measured.sizes.duel.rounds_count),
            unit: "count", published: "at least 3", note: count ? "By the rounds' medians." : not_matched(rounds, asked, topologies))
        end

        def matching_count(rounds, asked, topologies)
          topologies.find { |topology|
            [["throughput", 1], ["p99", -1]].all? do |metric, sign|
              mine, go = ["Puma #{topology}", GO].map { |name| rounds.estimate(metric, name, asked)&.value }
              mine && go && sign * (mine <=> go) >= 0
            end
          }&.then { |topology| Topology.parse(topology).workers_count }
        end

        def not_matched(rounds, asked, topologies)
          cores, cpu_ns, per_s = as_fast_as_go(rounds, asked, topologies)
          return unless cores
          "None of #{topologies.size} numbers of processes matched. At #{Units.duration(cpu_ns)} of CPU for a request, Go's " \
            "#{Units.rate(per_s)} requests/s would keep #{format("%.1f", cores)} cores busy."
        end

        # @return [Array(Float, Float, Float), nil] cores that Puma would keep busy with as many requests/s as Go had, its CPU of
        #   a request in nanoseconds, and Go's requests/s
        def as_fast_as_go(rounds, asked, topologies)
          cpu, per_s = rounds.estimate("cpu", "Puma #{topologies.last}", asked), rounds.estimate("throughput", GO, asked)
          [cpu.value * per_s.value / Units::NS_PER_S, cpu.value, per_s.value] if cpu && per_s
        end

        def memory
          Lab::Claim.of_ratio("memory: #{published_topology} over Go", @capacity.rounds.ratio("memory", @capacity.realistic, of: published_topology, over: GO),
            published: "51 MB against 17 MB", published_ratio: 3.0, note: "All processes of either after the load, as if they were alone on the machine.")
        end

        # Of the request that the published figures ask for, where they were contradicted by the one that was told.
        def talk
          talk, topologies = @measured.talk, @measured.sizes.talk.fetch(:topologies)
          name = "Puma #{topologies.first}"
          request = "the talk's own request (#{Units.duration(talk.chosen.reading.cpu_ns)} of CPU beside 50 ms)"
          [
            Lab::Claim.of_ratio("#{request}: Puma has so much of Go's throughput, #{clients(talk.most)}", talk.rounds.ratio("throughput", talk.most, of: name, over: GO),
              published: "about 70%", published_ratio: Inversion::SHARE_RATIO, note: "One process, a thread for each client."),
            Lab::Claim.of_ratio("#{request}: Go goes on where one process of Puma stops, #{clients(talk.more)}", talk.rounds.ratio("throughput", talk.more, of: GO, over: name),
              published: "1,200 against 600 requests/s", published_ratio: Inversion::GO_PER_S.fdiv(Inversion::PUMA_PER_S)),
            two_are_too_few(request, talk, topologies),
            needed("#{request}, #{clients(talk.more)}", talk.rounds, talk.more, topologies),
            *{name => Inversion::PUMA_PER_S, GO => Inversion::GO_PER_S}.map { |server, per_s| told(request, server, per_s) }
          ]
        end

        # Where all cores together are too few for Go's throughput, no number of processes could match it, and that two don't says nothing.
        def two_are_too_few(request, talk, topologies)
          two = "Puma #{topologies.find { |topology| topology.start_with?("2x") }}"
          cores, = as_fast_as_go(talk.rounds, talk.more, topologies)
          enough = cores.nil? || cores < @cores_count
          Lab::Claim.of_ratio("#{request}: two processes of Puma do not match Go, #{clients(talk.more)}",
            (talk.rounds.ratio("throughput", talk.more, of: GO, over: two) if enough),
            published: "at least 3 processes", published_ratio: Lab::Claim::HIGHER,
            note: enough ? "Above 1: they do not." : too_few_cores(cores, talk.chosen))
        end

        def too_few_cores(cores, chosen)
          needed = chosen.processes_count || "more than #{Inversion::MOST_PROCESSES}"
          "Not to be told on #{@cores_count} cores: Go's throughput would keep #{format("%.1f", cores)} busy with Ruby. " \
            "The simulator needs #{needed} processes on #{Inversion::CORES_COUNT} cores."
        end

        # Of other machines: told beside it, and not held against it.
        def told(request, server, per_s)
          Lab::Claim.of_number("#{request}: requests/s of #{server}, #{clients(@measured.talk.more)}", @measured.talk.rounds.estimate("throughput", server, @measured.talk.more),
            unit: "per_s", published: "about #{Report::Figures.count(per_s)} requests/s")
        end

        def costs
          cpu = @capacity.rounds.ratio("cpu", @capacity.realistic, of: first_topology, over: GO)
          text = "realistic: CPU of a request, #{first_topology} over Go"
          [Lab::Claim.of_ratio(text, cpu, published: "3 to 10 times the cost", published_ratio: COST), *cpu_seconds]
        end

        def cpu_seconds
          [first_topology, GO].map do |name|
            cpu = @capacity.rounds.estimate("cpu", name, @capacity.realistic)
            seconds = cpu && Stats::Estimate.new(**cpu.to_h, value: cpu.value / 1e3, low: cpu.low / 1e3, high: cpu.high / 1e3)
            Lab::Claim.of_number("realistic: CPU-seconds for a million requests, #{name}", seconds, unit: "count", note: "Ours; the table has memory, too.")
          end
        end
      end
    end
  end
end
