# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What each thread did when, for a short while: of one recording or of several, one below the other.
      class Lanes < Base
        # What each kind of step is called, and what it means; in the order in which they are stacked, from below.
        WORDS = {
          "held" => ["cpu", "has the GVL, and computes if it has a core"],
          "gc" => ["gc", "has the GVL, and collects garbage"],
          "gvl_wait" => ["gvlwait", "could run, does nothing: waits for the GVL"],
          "compute" => ["without GVL", "computes, or waits for a core, without the GVL"],
          "db" => ["db", "waits for a database"], "redis" => ["redis", "waits for Redis or memcached"],
          "http" => ["http", "waits for another HTTP server"], "file" => ["file", "waits for files"],
          "io" => ["io", "waits for a socket or anything else"], "lock" => ["lock", "waits for a Mutex or a Queue"],
          "pool" => ["pool", "waits for a connection pool"], "sleep" => ["sleep", "waits in Kernel#sleep"],
          "open" => ["open", "without the GVL in a request, for a reason that was not known yet at the end"],
          "idle" => ["idle", "has no request"]
        }.freeze

        # Of a wait.
        HOLDERS_MAX = 3

        # Of a recording that a page draws, those with most requests; each more is like them, or tells of itself.
        DRAWN_PROCESSES_MAX = 4

        MOST = {brief: 10, text: 40, markdown: 40}.freeze
        private_constant :HOLDERS_MAX, :MOST

        # @param comparison [PumaTuner::Lanes::Comparison]
        def initialize(comparison)
          @recordings = comparison.recordings
        end

        # @param observation [Probe::Observation]
        # @return [Blocks::Section, nil]
        def self.of_observation(observation)
          comparison = PumaTuner::Lanes::Comparison.of(observation)
          return new(comparison).section if comparison.recordings.any?
          Blocks::Section.new(id: "lanes", title: TITLE, blocks: [Blocks::Note.new(NONE)]) if observation.lanes
        end

        TITLE = "Threads over time: who had the GVL, and who could run and did nothing"
        NONE = "Nothing was recorded of what each thread did when: no request ended in time, the extension is not " \
          "there, or there was no room for it."
        private_constant :TITLE, :NONE

        # @return [Blocks::Page]
        def page
          first = @recordings.first
          Page.new(title:, date: first&.recorded_at,
            conditions: ("#{@recordings.map(&:command).uniq.compact.join("; ")}." if first),
            parts: [Part.new(id: "threads-over-time", title: "What each thread did when", sections: [section])])
        end

        # @return [String] what there is to see
        def title
          told = @recordings.filter_map do |recording|
            [Units.percent(recording.gvl_wait_ratio), recording.topology] if recording.gvl_wait_ratio
          end
          return "What each thread did when" if told.empty?
          (ratio, topology), *others = told
          "Threads could run and did nothing for #{ratio} of their time#{" at #{topology}" if topology}" +
            others.map { |other, setting| ", #{other}#{" at #{setting}" if setting}" }.join
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "lanes", title: TITLE,
            blocks: [*@recordings.flat_map { |recording| blocks(recording) }, *(Note.new(HOW_TO_READ) if drawn?)])
        end

        # @param wait [PumaTuner::Lanes::Wait]
        # @return [String] "37.9 ms of puma srv tp 005 (GET /a), while the GVL was held by …"
        def self.wait(wait) = "#{Units.duration(wait.duration_ns)} of #{who(wait.lane, wait.work)}, while #{held(wait)}"

        # @param wait [PumaTuner::Lanes::Wait]
        # @return [String] who had the GVL meanwhile
        def self.held(wait)
          named, others = wait.holders.partition.with_index { |_, place| place < HOLDERS_MAX }
          told = named.map { |lane, work, ns| "by #{who(lane, work)} for #{Units.duration(ns)}" }
          told << "by #{Figures.counted(others.size, "other")} for #{Units.duration(others.sum(&:last))}" if others.any?
          told << "for #{Units.duration(wait.nobody_ns)} by nobody yet" if wait.nobody_ns > wait.duration_ns / 100
          "the GVL was held #{Figures.list(told)}"
        end

        def self.who(lane, work) = "#{lane.name || "a thread without a name"}#{" (#{work})" if work}"
        private_class_method :who

        HOW_TO_READ = "How to read the pictures: each lane is a thread, time goes from left to right, and all " \
          "pictures have one scale. Red: the thread could run and did nothing, as another one had the GVL, which " \
          "is blue there. Where many changes fall together their colours are stacked, each as high as its share. " \
          "Point at a red stretch for who had the GVL meanwhile. Drag, or use the arrow keys, to move; + and − (or " \
          "Ctrl and the wheel) zoom; Home shows everything; n goes to the next longest wait; up and down go to " \
          "another thread."
        private_constant :HOW_TO_READ

        private

        def drawn? = @recordings.any? { |recording| recording.processes.any? }

        def blocks(recording)
          count = Figures.counted(recording.processes.size, "process", "processes")
          heading = "#{Units.duration(recording.duration_ns)} of #{count}"
          [Subheading.new([*recording.topology&.to_s, heading].join(": ")),
            *sentences(recording).map { |text| Paragraph.new(text) }, *figures(recording)]
        end

        def sentences(recording)
          ratio = recording.gvl_wait_ratio or return ["No pool thread had anything to do."]
          longest = recording.longest_wait
          ["Pool threads could run and did nothing (GVL wait) for #{Units.percent(ratio)} of the time in which they " \
            "were not idle.", *("The longest such wait: #{self.class.wait(longest)}." if longest),
            *("There was no more room after that time." if recording.processes.any?(&:full))]
        end

        def figures(recording)
          drawn = recording.processes.max_by(DRAWN_PROCESSES_MAX) do |process|
            process.lanes.sum { |lane| lane.works.size }
          end
          figures = recording.processes.map do |process|
            chart = Chart.new(:lanes, [recording, process]) if drawn.include?(process)
            Figure.new(id: ["lanes", recording.topology, process.worker_index].compact.join("-"),
              title: ("Worker #{process.worker_index}" if process.worker_index),
              blocks: [*chart, Folded.new("The same in figures", [table(recording, process)])])
          end
          return figures if figures.size <= DRAWN_PROCESSES_MAX
          [*figures, Note.new("Drawn are the #{DRAWN_PROCESSES_MAX} processes that served most.")]
        end

        def table(recording, process)
          sums = process.lanes.map(&:sums)
          kinds = WORDS.keys.select { |kind| sums.any? { |one| one.fetch(kind, 0).positive? } }
          columns = [Column.new("thread", length: 22), Column.new("requests", :count, short: "req"),
            *WORDS.values_at(*kinds).map { |word, meaning| Column.new(word, :figure, meaning) },
            Column.new("longest gvlwait", :duration, short: "longest"), Column.new("meanwhile", page: true)]
          rows = process.lanes.zip(sums).map { |lane, own| row(recording, lane, own, kinds) }
          Table.new(columns, rows, style: "dense numbers", most: MOST, nouns: %w[thread threads],
            caption: "Percent of the time that was recorded")
        end

        def row(recording, lane, sums, kinds)
          wait = recording.longest_wait([lane])
          Row.new([lane.name || "(no name)", lane.works.size / 3, *kinds.map { |kind| share(sums, kind, lane) },
            wait&.duration_ns, wait ? self.class.held(wait) : ""])
        end

        # Short garbage collections are no steps.
        def share(sums, kind, lane)
          ns = sums.fetch(kind, 0) + {"held" => -lane.short_gc_ns, "gc" => lane.short_gc_ns}.fetch(kind, 0)
          Cell.new(Figures.share(ns.fdiv(sums.values.sum)), number: ns)
        end
      end
    end
  end
end
