# frozen_string_literal: true

require_relative "anatomy"
require_relative "service"

module PumaTuner
  module Labs
    # What the memory consists of that YJIT adds: each service without and with it, after as many requests, page by page (Anatomy), beside what YJIT
    # tells of itself. The long form has two workers, in which a heap that was shared with the master becomes each worker's own as it is written to.
    class YjitMemory
      OFF, ON = "YJIT off", "YJIT on"

      # requests_count: that each server has answered when its pages are looked at; turn_s: of load, until there are so many; turns_max: so often at most
      Sizes = Data.define(:services, :rubies, :topology, :connections_count, :rounds_count, :requests_count, :turn_s, :turns_max) do
        def self.quick
          new(services: [Yjit::OAUTH], rubies: [RUBY_VERSION], topology: "1x3", connections_count: 2, rounds_count: 1,
            requests_count: 400, turn_s: 1, turns_max: 20)
        end

        # Both Rubies, as the newer one's YJIT adds more than the older one's.
        def self.full
          new(services: Yjit::SERVICES, rubies: Yjit::RUBIES, topology: "2x3", connections_count: 4, rounds_count: 2,
            requests_count: 9_000, turn_s: 5, turns_max: 120)
        end

        # @return [Array<Array(YjitService, String)>] what is looked at, service by service
        def pairs = services.product(rubies)
      end

      # One server's memory, in bytes. requests_count: answered; memory: Anatomy::Memory
      # code_bytes, metadata_bytes: what YJIT tells of itself, all processes together; nil where it can't be asked; 0 without it
      Look = Data.define(:requests_count, :memory, :code_bytes, :metadata_bytes)

      def name = "yjit_memory"

      def title = "What the memory that YJIT adds consists of"

      def question = "Of what YJIT adds to a service's memory, how much is machine code, how much its metadata, and what is the rest?"

      def story = 3

      def gems(quick:) = []

      # @return [Array<Lab::Bundle>]
      def bundles(quick:) = sizes(quick).services.map(&:bundle)

      # @param say [#call] told what takes long
      # @raise [UsageError]
      def set_up(say:) = Yjit::SERVICES.each { |service| service.set_up(say) }

      def expected_s(quick:) = sizes(quick).then { |sizes| 2 * sizes.pairs.size * sizes.rounds_count * (quick ? 10 : 90) }

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] when a service is not set up
      # @raise [InvalidMeasurement] when the kernel does not let us look at a server's pages
      def call(run)
        sizes = sizes(run.quick?)
        sizes.services.each { |service| service.ensure_set_up(sizes.rubies) }
        looks = sizes.pairs.to_h do |service, ruby|
          [[service, ruby], run.part("memory of #{service.name}, Ruby #{ruby}") { looks(run, service, ruby, sizes) }]
        end
        run.finding(claims: [], tables: looks.map { |(service, ruby), all| table(service, ruby, all, sizes) }, charts: [],
          conclusions: looks.map { |(service, ruby), all| conclusion(service, ruby, all) }, verdicts: {}, unknown: run.quick? ? {"pages that a worker shared with its master before it wrote to them" => "the short form has one process"} : {})
      end

      private

      def sizes(quick) = quick ? Sizes.quick : Sizes.full

      # @return [Hash{String => Array<Look>}] by variant, by round: in turn forwards and backwards, so that neither always comes first
      def looks(run, service, ruby, sizes)
        all = {OFF => [], ON => []}
        sizes.rounds_count.times do |round|
          (round.odd? ? all.keys.reverse : all.keys).each do |name|
            run.note("#{service.title}, Ruby #{ruby}, #{name}, round #{round + 1} of #{sizes.rounds_count}")
            all.fetch(name) << look(run, service, ruby, name, sizes)
          end
        end
        all
      end

      def look(run, service, ruby, name, sizes)
        factors = {**service.factors, **Yjit.ruby_factor(ruby), "topology" => sizes.topology, "yjit" => (name == ON) ? "on" : "off"}
        variant = Prove::Variant.new(name:, factors:)
        ready = Lab::ServedCommands.new(folder: run.folder, variants: [variant], out: ->(_) { File::NULL }).call(variant)
        Host::ServerProcess.run(ready.command, topology: ready.topology, puma_options: ready.puma_options, boot_limit_s: Lab::ServedCommands::BOOT_LIMIT_S, meter: true) do |server|
          requests_count = serve(run, service, server, sizes)
          gauges = Host::SignalQuery.new(server.directory).call("gauges", server.serving_pids).values
          memory = Anatomy.of_server(server.pids) or raise InvalidMeasurement, "the kernel does not let us look at the server's pages (/proc/PID/pagemap, /proc/PID/mem)"
          Look.new(requests_count:, memory:, code_bytes: told(gauges, :code_bytes, name), metadata_bytes: told(gauges, :compiler_bytes, name))
        end
      end

      # As many requests with YJIT as without: what is served more of is compiled more, and leaves more garbage.
      def serve(run, service, server, sizes)
        count = turn = 0
        until count >= sizes.requests_count
          raise InvalidMeasurement, "only #{count} of #{sizes.requests_count} requests were answered in #{turn} turns of #{sizes.turn_s} s" if turn == sizes.turns_max
          traffic = Load::Traffic.new(mix: service.traffic.mix(service.kinds_count), generator: Load::Native.new, connections_count: sizes.connections_count, seed: run.seed + turn)
          outcome = traffic.send_to(server.url, duration_s: sizes.turn_s)
          outcome.ensure_expected_responses
          count += outcome.requests_count
          turn += 1
        end
        count
      end

      def told(gauges, key, name)
        numbers = gauges.map { |one| one[key] }
        return 0 if name == OFF
        numbers.sum if numbers.any? && numbers.all?
      end

      def table(service, ruby, looks, sizes)
        rows = Anatomy::KINDS.map { |kind| row(Anatomy::TITLES.fetch(kind), looks) { |look| look.memory.bytes(kind) } } +
          [row("all together", looks) { |look| look.memory.total_bytes },
            row("of Ruby's heap, each process's own", looks) { |look| look.memory.own.fetch(:heap) }, row("of malloc, each process's own", looks) { |look| look.memory.own.fetch(:malloc) },
            row("YJIT tells: machine code", looks, &:code_bytes), row("YJIT tells: metadata, which malloc has", looks, &:metadata_bytes),
            row("malloc without that metadata", looks) { |look| look.metadata_bytes && look.memory.bytes(:malloc) - look.metadata_bytes },
            ["requests answered", *looks.values.map { |all| Report::Figures.count(median(all.map(&:requests_count))) }, ""]]
        Lab::Table.new(title: "Memory of the #{service.name} service, #{sizes.topology}, Ruby #{ruby}", headings: ["MiB", OFF, ON, "added"], rows:,
          notes: ["Medians of #{Units.counted(sizes.rounds_count, "round")}, with their range. Pages that several processes of a server share count once. Metadata is what YJIT has asked malloc for; what malloc takes " \
            "for it, with what lies between, is in the row below."])
      end

      def row(title, looks, &bytes)
        cells = looks.transform_values { |all| all.map(&bytes) }
        return [title, "-", "-", "-"] if cells.values.flatten.include?(nil)
        added = cells.fetch(ON).zip(cells.fetch(OFF)).map { |on, off| on - off }
        [title, *cells.values.map { |numbers| told_range(numbers) }, told_range(added)]
      end

      def told_range(numbers)
        low, middle, high = [numbers.min, median(numbers), numbers.max].map { |bytes| format("%.1f", bytes.fdiv(Units::MIB)) }
        (low == high) ? middle : "#{middle} (#{low}–#{high})"
      end

      def median(numbers) = Stats::Quantile.of(numbers.sort, 0.5).round

      # The largest first; what YJIT does not tell of itself is what was unexplained.
      def conclusion(service, ruby, looks)
        added = ->(&bytes) { median(looks.fetch(ON).zip(looks.fetch(OFF)).map { |pair| pair.map(&bytes).reduce(:-) }) }
        total = added.call { |look| look.memory.total_bytes }
        parts = Anatomy::KINDS.to_h { |kind| [Anatomy::TITLES.fetch(kind), added.call { |look| look.memory.bytes(kind) }] }.sort_by { |_, bytes| -bytes }
        told = looks.fetch(ON).map { |look| look.code_bytes && look.code_bytes + look.metadata_bytes }
        rest = "; YJIT tells of #{Units.mebibytes(median(told))} itself" unless told.include?(nil)
        "#{service.title}, Ruby #{ruby}: YJIT adds #{Units.mebibytes(total)}, #{parts.map { |title, bytes| "#{Units.mebibytes(bytes)} of #{title}" }.join(", ")}#{rest}."
      end

      PumaTuner::Lab.register self
    end
  end
end
