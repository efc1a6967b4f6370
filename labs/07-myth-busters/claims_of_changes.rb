# frozen_string_literal: true

require_relative "blocks"
require_relative "threads_duel"
require_relative "trilogy"
require_relative "variants"

module PumaTuner
  module Labs
    class MythBusters
      # Claims that hold a Puma against itself, changed in one thing.
      class ClaimsOfChanges
        # Found here, as IO threads brought nothing after the first requests; known since June 2026.
        LEAK = "Puma 8.0.2 counts an IO thread that has ended as still there, and soon starts none any more (puma/puma#3958, fixed by #3968)."

        # @param measured [Measured]
        def initialize(measured)
          @measured = measured
        end

        # @return [Array<Lab::Claim>]
        def all = [*threads, *libraries, *sessions, *rubies, *schedulers, *side_by_side].compact

        private

        def ratio(rounds, metric, of, over) = rounds.ratio(metric, rounds.loads.first, of:, over:)

        def threads
          rule, rails, many = [ThreadsDuel::RULE, ThreadsDuel::RAILS, ThreadsDuel::MANY].map(&:name)
          told = "70% IO, #{@measured.sizes.clients_count} clients"
          [
            Lab::Claim.of_ratio("threads = 100 / CPU %: 3 are enough, #{rule} over #{many} (#{told})", ratio(@measured.threads, "throughput", rule, many),
              published: "30% → 3", published_ratio: 1, note: "Below 1: what the rule leaves on the table."),
            Lab::Claim.of_ratio("Rails went from 5 to 3: #{rule} over #{rails} (#{told})", ratio(@measured.threads, "throughput", rule, rails), published: "5 → 3 (rails/rails#50450)"),
            Lab::Claim.of_ratio("Rails went from 5 to 3: p99 of #{rule} over #{rails} (#{told})", ratio(@measured.threads, "p99", rule, rails), published: "5 → 3 (rails/rails#50450)",
              note: "As the client sees it, Puma's queue included.")
          ]
        end

        def libraries
          json, clients = @measured.verdicts.values_at("json", "database clients")
          [
            speed(json, "JSON.parse → Oj, by the json of then", Blocks::OJ, Blocks::JSON_THEN, published: "surprisingly faster"),
            speed(json, "JSON.parse → Oj, by today's json", Blocks::OJ, Blocks::JSON_NOW, published: "surprisingly faster", note: "json has been made faster since."),
            speed(clients, "mysql2 → Trilogy, a page of 50 rows", Blocks::TRILOGY, Blocks::MYSQL2, published: "about 10%", published_ratio: 1.10,
              note: "By CPU time of the client alone; of a whole request it is less."),
            *in_app
          ]
        end

        # What was published is of an app: the client alone says what it could be at most.
        def in_app
          rounds = @measured.trilogy
          page, realistic = rounds.loads
          [
            Lab::Claim.of_ratio("mysql2 → Trilogy in the app: throughput of a page of 50 rows", rounds.ratio("throughput", page, of: Trilogy::TRILOGY.name, over: Trilogy::MYSQL2.name),
              published: "about 10%", published_ratio: 1.10),
            Lab::Claim.of_ratio("mysql2 → Trilogy in the app: CPU of a page of 50 rows, mysql2 over Trilogy", rounds.ratio("cpu", page, of: Trilogy::MYSQL2.name, over: Trilogy::TRILOGY.name),
              published: "about 10%", published_ratio: 1.10),
            Lab::Claim.of_ratio("mysql2 → Trilogy in the app: throughput of a realistic request", rounds.ratio("throughput", realistic, of: Trilogy::TRILOGY.name, over: Trilogy::MYSQL2.name),
              note: "Ours: one row, and 30% of other work.")
          ]
        end

        def speed(verdict, text, faster, slower, published_ratio: Lab::Claim::HIGHER, **told)
          Lab::Claim.of_ratio(text, verdict && Lab::Ratios.speed(verdict, of: faster, over: slower), published_ratio:, **told)
        end

        # The cost is the same for a small and a large request, so the share is the app's; beside little else it is seen best.
        def sessions
          [
            Lab::Claim.of_number("Rack::Session: CPU that a session takes", session_ns, unit: "ns", published: "about 5% of all time",
              note: "A cookie that is read, changed and written, in a request that only waits; the same for any request, " \
                "so that the share is the app's. Differences of the rounds."),
            Lab::Claim.of_ratio("Rack::Session: CPU of an io-only request with it, over without", ratio(@measured.variants.waiting, "cpu", "with a session", Variants::MANY.name),
              note: "Ours: the same cost beside next to no other work.")
          ]
        end

        # @return [Stats::Estimate, nil] middle and range of the rounds
        def session_ns
          rounds = @measured.variants.waiting
          with, without = ["with a session", Variants::MANY.name].map { |name| rounds.values("cpu", name, rounds.loads.first) }
          differences = with.zip(without).filter_map { |pair| pair.reduce(:-) unless pair.include?(nil) }
          Stats::Estimate.of_range(differences) if differences.any?
        end

        def rubies
          rounds, base = @measured.variants.realistic, Variants::BASE.name
          [Lab::Claim.of_ratio("YJIT: throughput of the realistic request", ratio(rounds, "throughput", "YJIT", base), note: "Ours; recursion is what YJIT is best at.")]
        end

        def schedulers
          realistic, waiting, mixed = @measured.variants.realistic, @measured.variants.waiting, @measured.variants.mixed
          base, many, three = [Variants::BASE, Variants::MANY, Variants::THREE].map(&:name)
          [
            change("M:N threads: throughput, realistic", realistic, "throughput", "M:N threads", base, published: "to be seen used"),
            change("M:N threads: throughput, io-only", waiting, "throughput", "M:N threads", many, published: "to be seen used"),
            change("M:N threads: CPU per request, io-only", waiting, "cpu", "M:N threads", many),
            change("Puma 8's IO threads: throughput, 9 of 10 requests only wait, 3 threads", mixed, "throughput", "with 17 IO threads", three, note: LEAK),
            change("Puma 8's IO threads, fixed: throughput, the same mix", mixed, "throughput", "with 17 IO threads, fixed", three, note: "With the count put right, by a patch of ours."),
            change("Puma 8's IO threads, fixed, over as many plain threads: throughput, the same mix", mixed, "throughput", "with 17 IO threads, fixed", Variants::MIXED.last.name),
            change("Falcon over Puma with a thread per client: throughput, io-only", waiting, "throughput", "Falcon", many),
            change("Falcon over Puma with 5 threads: throughput, realistic", realistic, "throughput", "Falcon", base, note: "Fibers share one GVL just as threads do.")
          ]
        end

        def change(text, rounds, metric, of, over, **told) = Lab::Claim.of_ratio(text, ratio(rounds, metric, of, over), **told)

        # Why Ractors don't: each instruction of the interpreter counts itself in one variable of the whole process.
        COUNTER = "Ruby 3.3 and 3.4 with YJIT built in count each interpreted instruction in one global variable, which cores then take from each other (ruby/ruby#12549, #12670, after 3.4)."

        def side_by_side = [*by_the_rule, *causes]

        # Three suspects: making them, what they share, and of that the counter, which compiled code leaves alone.
        def causes
          verdict, compiled = @measured.verdicts.values_at("side by side", "side by side, YJIT")
          iterations = ->(rounds, of, over) { rounds && Lab::Ratios.of(rounds, "iterations", of:, over:) }
          [
            Lab::Claim.of_ratio("two Ractors that are kept, over ones made anew", iterations.call(verdict, Blocks::KEPT, Blocks::RACTORS), note: "What making them costs, of the whole."),
            Lab::Claim.of_ratio("two Ractors that are kept, over two processes", iterations.call(verdict, Blocks::KEPT, Blocks::PROCESSES), published_ratio: Lab::Claim::LOWER,
              note: "What Ractors share, and processes don't. #{COUNTER}"),
            Lab::Claim.of_ratio("two Ractors that are kept, over one after the other, with YJIT", iterations.call(compiled, *Blocks::COMPILED.keys.reverse), published_ratio: Lab::Claim::HIGHER,
              note: "Compiled code does not count. Above 1: the second core brings something.")
          ]
        end

        def by_the_rule
          verdict = @measured.verdicts["side by side"]
          {Blocks::THREADS => "two threads compute no faster than one", Blocks::RACTORS => "two Ractors compute side by side"}.map do |name, text|
            Lab::Claim.of_ratio("#{text}: #{name} over one after the other", verdict && Lab::Ratios.of(verdict, "iterations", of: name, over: Blocks::TURN),
              published_ratio: (name == Blocks::THREADS) ? 1 : 2.0, note: "Iterations per second; by the GVL's rule.")
          end
        end
      end
    end
  end
end
