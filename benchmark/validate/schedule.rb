# frozen_string_literal: true

require "fileutils"
require "json"
require "zlib"
require_relative "grid"

module Validation
  # What was measured in a cell, on one server or on several that were started one after the other. Each metric is an Estimate: its interval spans what single repeats gave, and of percentiles also
  # what so many requests leave open. How far the repeats are apart decides nothing: a cell is left out or marked by causes alone.
  class Measured
    # Undisturbed ones; with less there is no spread.
    LEAST_REPEATS_COUNT = 2

    # Percentiles of fewer requests are not shown.
    P99_LEAST_COUNT = 200

    # 95%, of a normal distribution.
    Z = 1.96

    Stats = PumaTuner::Stats
    private_constant :Stats

    # @param starts [Array<Hash>] of the journal, one or more, see Session
    def initialize(starts)
      answering = starts.reject { |fields| fields["failure"] }
      @starts = answering.empty? ? starts : answering
      @fields = @starts.first
      @all = @starts.flat_map { |fields| (fields["repeats"] || []).map { |repeat| repeat.merge("start" => fields["start"]) } }
      answered = @all.reject { |repeat| repeat["failure"] }
      undisturbed = answered.reject { |repeat| repeat["disturbed"] }
      @repeats = (undisturbed.size < LEAST_REPEATS_COUNT) ? answered : undisturbed
    end

    # @return [String, nil] why there is nothing that a prediction could be held against, as a clause
    def failure
      return @fields["failure"] if @fields["failure"]
      @all.filter_map { |repeat| repeat["failure"] }.first || "nothing was sent" if @repeats.empty?
    end

    # @return [String, nil] what disturbed it, as a clause: others on the machine, or repeats that had to be made again
    def disturbed
      failures = @all.filter_map { |repeat| repeat["failure"] }
      @repeats.filter_map { |repeat| repeat["disturbed"] }.first || ("#{failures.size} of #{@all.size} repeats failed: #{failures.first}" if failures.any?)
    end

    def open? = !@fields["rate_per_s"].nil?

    def connections_count = @fields["connections_count"]

    # @return [Integer] answers that throughput and latency are of
    def counted_count = @repeats.sum { |repeat| repeat["counted_count"] }

    # What really arrived, of chance: a prediction is made for the load that there was.
    # @return [Float, nil]
    def offered_per_s
      @repeats.sum { |repeat| repeat["intended_count"] } / (@repeats.size * @fields["load_s"]) if open?
    end

    # Of a closed loop; an open one has the throughput that is sent to it, which proves nothing.
    # @return [Stats::Estimate, nil]
    def throughput
      return if open? || @repeats.empty?
      estimate(counted_count / (@repeats.sum { |repeat| repeat["duration_ns"] } / 1e9), throughputs_per_s, counted_count)
    end

    # @return [Array<Float>] of each repeat
    def throughputs_per_s = @repeats.map { |repeat| repeat["throughput_per_s"] }

    # @return [Stats::Estimate, nil] ns
    def mean
      return if @repeats.empty? || counted_count.zero?
      estimate(@repeats.sum { |repeat| repeat["mean_ns"] * repeat["counted_count"] }.fdiv(counted_count), @repeats.map { |repeat| repeat["mean_ns"] }, counted_count)
    end

    # How far the servers that were started one after the other are apart: a heap that is lucky in one start differs in the next.
    # @return [Float, nil] the throughput of the best over that of the worst, less 1; nil where there was only one
    def start_spread_ratio
      return if open?
      of_starts = @repeats.group_by { |repeat| repeat["start"] }.values.map { |repeats| repeats.sum { |repeat| repeat["throughput_per_s"] } / repeats.size }
      of_starts.max / of_starts.min - 1 if of_starts.size > 1
    end

    # @return [Float, nil] CPU of what runs beside the server for it, for a request; nil where there is nothing
    def beside_cpu_ns
      total_ns, requests_count = %w[beside_cpu_ns requests_count].map { |name| @repeats.sum { |repeat| repeat[name].to_i } }
      total_ns.fdiv(requests_count) if total_ns.positive? && requests_count.positive?
    end

    # @return [Float] the machine's speed meanwhile, see Speed
    def turns_per_ms = @repeats.sum { |repeat| repeat["turns_per_ms"] } / @repeats.size

    # Of the server, for a request that it worked for, whether it counts for throughput or not: the CPU clock is read before the
    # first and after the last of them.
    # @return [Stats::Estimate, nil] ns
    def cpu
      repeats = @repeats.select { |repeat| repeat["cpu_ns"] && repeat["requests_count"].positive? }
      requests_count = repeats.sum { |repeat| repeat["requests_count"] }
      return if requests_count.zero?
      estimate(repeats.sum { |repeat| repeat["cpu_ns"] }.fdiv(requests_count), repeats.map { |repeat| repeat["cpu_ns"].fdiv(repeat["requests_count"]) }, requests_count)
    end

    # @return [Stats::Estimate, nil] ns
    def p50 = quantile(0.5, "p50_ns")

    # @return [Stats::Estimate, nil] ns
    def p99 = (quantile(0.99, "p99_ns") if counted_count >= P99_LEAST_COUNT)

    # @return [Stats::Estimate, nil] ns, mean of a request
    def gvl_wait
      waits = @starts.filter_map { |fields| fields["gvl_wait"] }
      requests_count = waits.sum { |wait| wait["requests_count"] }
      return if requests_count.zero?
      ends = waits.flat_map do |wait|
        half = Z * (wait["deviation_ns"] || 0) / Math.sqrt(wait["requests_count"])
        [wait["mean_ns"] - half, wait["mean_ns"] + half]
      end
      estimate(waits.sum { |wait| wait["mean_ns"] * wait["requests_count"] }.fdiv(requests_count), ends, requests_count)
    end

    private

    def estimate(value, ends, samples_count)
      low, high = [value, *ends].minmax
      Stats::Estimate.new(value:, low:, high:, level_ratio: nil, samples_count:)
    end

    # Between which ranks the true percentile lies, were requests independent. They follow each other's queues, so it is more
    # that they leave open, not less.
    def quantile(ratio, name)
      return if counted_count.zero?
      return quantile_of_repeats(name) if histogram.count.zero?
      half = Z * Math.sqrt(ratio * (1 - ratio) / counted_count)
      ends = [ratio - half, ratio + half].map { |one| histogram.quantile_ns(one.clamp(0, 1)) }
      estimate(histogram.quantile_ns(ratio), [*ends, *@repeats.map { |repeat| repeat[name] }], counted_count)
    end

    # Of a generator that tells no histogram.
    def quantile_of_repeats(name)
      repeats = @repeats.select { |repeat| repeat[name] }
      return if repeats.empty?
      value = repeats.sum { |repeat| repeat[name] * repeat["counted_count"] }.fdiv(repeats.sum { |repeat| repeat["counted_count"] })
      estimate(value, repeats.map { |repeat| repeat[name] }, counted_count)
    end

    def histogram = @histogram ||= @repeats.filter_map { |repeat| repeat["latency"] }.sum(PumaTuner::Probe::Histogram.empty) { |latency| PumaTuner::Probe::Histogram.from_document(latency) }
  end

  # How long everything takes; seconds.
  #
  # load_s: of one repeat; starts_count: servers that a cell is measured on, one after the other; repeats_count: on each of them
  # probe_s: of the load with the probe; record_s: of a recording; boot_s: until a server is there, about
  Times = Data.define(:warmup_s, :load_s, :starts_count, :repeats_count, :probe_s, :record_s, :boot_s) do
    def initialize(starts_count: 1, boot_s: 1.8, **fields) = super

    # @param form [Symbol] of Grid::FORMS
    # @param workload [Workload]
    def self.of(form, workload)
      of_form = Validation::TIMES.fetch(form)
      of_form.fetch(workload.name) { of_form.fetch(workload.real? ? "real" : "made") }
    end

    # A repeat of fewer requests than this is made longer, up to so many times: the few that are under way at its ends weigh
    # too much in it.
    const_set(:LEAST_REQUESTS_COUNT, 150)
    const_set(:LONGEST_FACTOR, 3)

    # A recording needs this many, whatever they take.
    const_set(:LEAST_RECORDED_COUNT, 60)

    # For companions, so many are recorded in all.
    const_set(:SETTINGS_COUNT, 4)

    # Starting the generator once: a look at the clock, rounded up.
    const_set(:START_S, 0.3)

    # @param throughput_per_s [Numeric, nil] expected
    def load_s_at(throughput_per_s)
      wanted_s = throughput_per_s ? self.class::LEAST_REQUESTS_COUNT / throughput_per_s : load_s
      wanted_s.clamp(load_s, load_s * self.class::LONGEST_FACTOR).round(1)
    end

    # @param workload [Workload]
    def record_s_of(workload) = [record_s, (self.class::LEAST_RECORDED_COUNT * workload.nominal_ms / 1_000.0).round(1)].max

    # @param workload [Workload]
    # @param cells [Array<Cell>] on one server
    # @return [Float] about
    def session_s(workload, cells)
      load = load_s_at([1_000.0 / workload.nominal_ms, 1].max)
      boot_s + warmup_s + self.class::START_S + cells.size * repeats_count * (load + self.class::START_S) + cells.count(&:probed?) * (probe_s + self.class::START_S)
    end

    # @param workload [Workload]
    # @param recorded_at [RecordedAt]
    # @return [Float] about
    def recording_s(workload, recorded_at)
      (boot_s + warmup_s + record_s_of(workload) + 2 * self.class::START_S) * (recorded_at.companions ? self.class::SETTINGS_COUNT : 1)
    end
  end

  # Until YJIT has compiled most of a Rails application and its heap is steady it takes 12 s at least. A heap that is lucky in one start makes
  # the same settings a fifth faster than in the next, so the long form starts each server twice and more.
  TIMES = {
    quick: {"made" => Times.new(warmup_s: 1.0, load_s: 2.5, repeats_count: 2, probe_s: 1.5, record_s: 7.0)},
    medium: {"made" => Times.new(warmup_s: 1.0, load_s: 1.5, repeats_count: 2, probe_s: 1.0, record_s: 5.0, boot_s: 1.2),
             "real" => Times.new(warmup_s: 12.0, load_s: 2.0, repeats_count: 3, probe_s: 1.5, record_s: 8.0, boot_s: 2.5),
             "rails8" => Times.new(warmup_s: 12.0, load_s: 2.5, starts_count: 2, repeats_count: 2, probe_s: 1.5, record_s: 8.0, boot_s: 2.5)},
    full: {"made" => Times.new(warmup_s: 3.0, load_s: 6.0, repeats_count: 3, probe_s: 3.0, record_s: 12.0),
           "real" => Times.new(warmup_s: 20.0, load_s: 8.0, starts_count: 3, repeats_count: 2, probe_s: 4.0, record_s: 15.0, boot_s: 4.0)}
  }.freeze

  # What is still to be measured, in order: a subject's recordings, then its servers, each with all its cells. The order of the servers is by chance, and
  # the same each time: what changes slowly on the machine then meets no setting more than another.
  class Schedule
    # topology: one server's; start: which of several with the same settings, counted from 0; cells: that it is loaded for
    Server = Data.define(:subject, :topology, :start, :cells)

    # @param cells [Array<Cell>]
    # @param form [Symbol] of Grid::FORMS
    # @param recorded_at [Array<RecordedAt>, nil] of all subjects; nil: as the grid has it
    # @param journal [Journal]
    # @param again [Boolean] whether cells that failed or were disturbed are measured once more, and subjects tried that were absent
    def initialize(cells:, form:, journal:, recorded_at: nil, again: false)
      @form = form
      @recorded_at = recorded_at
      @journal = journal
      @again = again
      @all = cells
    end

    # @return [Array<Subject>]
    def subjects = @all.map(&:subject).uniq

    # @return [String] of a recording, in the journal
    def self.recording_name(subject, recorded_at) = "recording #{subject.key} #{recorded_at}"

    # @param subject [Subject]
    # @return [Array<RecordedAt>] recordings that there are to be; without companions where this version of `tune` knows of none
    def recorded_at(subject)
      wanted = @recorded_at || Grid.recorded_at(@form, subject.workload)
      Recorder.companions? ? wanted : wanted.map(&:alone)
    end

    # @param subject [Subject]
    # @return [Array<RecordedAt>] what its cells are predicted from: each recording, and those with companions without them, too
    def predicted_from(subject) = recorded_at(subject).flat_map { |at| [at, at.alone] }.uniq

    # @param subject [Subject]
    # @return [Array<RecordedAt>] those of its recordings that are still to be made
    def unrecorded(subject)
      return [] if absent?(subject)
      recorded_at(subject).reject do |at|
        name = self.class.recording_name(subject, at)
        @journal.document(name) && !(@again && @journal.disturbed(name))
      end
    end

    # @param subject [Subject]
    # @return [Array<Server>]
    def servers(subject)
      of_topologies = @all.select { |cell| cell.subject == subject }.group_by(&:topology)
      starts = (0...Times.of(@form, subject.workload).starts_count).flat_map { |start| of_topologies.keys.map { |topology| [topology, start] } }
      starts.shuffle(random: Random.new(Zlib.crc32(subject.key))).filter_map do |topology, start|
        cells = of_topologies.fetch(topology).select { |cell| wanted?(cell, start) }
        Server.new(subject:, topology:, start:, cells:) if cells.any?
      end
    end

    # @return [Float] about
    def expected_s
      subjects.sum do |subject|
        times = Times.of(@form, subject.workload)
        unrecorded(subject).sum { |at| times.recording_s(subject.workload, at) } + servers(subject).sum { |server| times.session_s(subject.workload, server.cells) }
      end
    end

    # @return [Array<String>] what will be done
    def lines
      servers = subjects.flat_map { |subject| self.servers(subject) }
      rows = servers.map { |server| "  #{server.subject.key}  #{server.topology}: #{server.cells.map(&:level).join(" ")}" }
      recordings_count = subjects.sum { |subject| unrecorded(subject).size }
      measured_count = @all.size - servers.flat_map(&:cells).uniq.size
      [*rows, "#{recordings_count} recordings and #{servers.flat_map(&:cells).uniq.size} cells on #{servers.size} servers, " \
        "about #{duration(expected_s)}; #{measured_count} cells are measured already, or can't be"]
    end

    private

    def wanted?(cell, start)
      return false if absent?(cell.subject)
      fields = @journal.start(cell, start)
      return true if fields.nil?
      measured = Measured.new([fields])
      @again && !(measured.failure || measured.disturbed).nil?
    end

    def absent?(subject) = @journal.absence(subject) && !@again

    def duration(seconds)
      return format("%.1f minutes", seconds / 60) if seconds < 5_400
      format("%.1f hours", seconds / 3_600)
    end
  end

  # What has been measured, on disk: a line of JSON for each thing as soon as it is there, so that an interrupted run goes on
  # where it was, and predictions can be made anew without measuring again. A later line takes the place of an earlier one with
  # the same key and start.
  #
  #   {"kind": "run", …}  what holds for all lines: the layout of these lines, the commit, the machine, how much work a millisecond is
  #   {"kind": "recording", "key": …, "turns_per_ms": …, "disturbed": …}  speed (see Speed); why it must not count, or null
  #   {"kind": "cell", "key": …, "start": …}  see Session: of one server's start
  #   {"kind": "look", "key": …, "at": …, "commit": …}  somebody looked at the cells that are held out
  #   {"kind": "absent", "key": subject, "reason": …}  a subject that can't be had here
  # Recordings and calibrated machines are files of their own beside it, as `puma_tuner` writes them.
  class Journal
    # Of the lines. What was written by another one can't be gone on with.
    LAYOUT = 3

    FOLDER = File.expand_path("../../tmp/validate", __dir__)

    # So many parts of a cell's key are its subject's.
    SUBJECT_PARTS = 4

    # @param folder [String]
    # @param fresh [Boolean] whether to begin anew
    def initialize(folder, fresh: false)
      @folder = folder
      @path = File.join(folder, "journal.jsonl")
      FileUtils.rm_rf(folder) if fresh
      FileUtils.mkdir_p(folder)
      @lines = read
      raise PumaTuner::UsageError, "#{folder} was measured by another version of this program; --fresh begins anew" if run && run["layout"] != LAYOUT
    end

    # @param fields [Hash] with "kind" and, of several of a kind, "key" and "start"
    def add(fields)
      line = JSON.generate(fields)
      File.write(@path, "#{line}\n", mode: "a")
      @lines[place(fields)] = JSON.parse(line)
    end

    # @return [Hash, nil]
    def run = @lines[["run", nil, nil]]

    # @param cell [Cell]
    # @return [Hash, nil] what one server's start gave
    def start(cell, number) = @lines[["cell", cell.key, number]]

    # @param cell [Cell]
    # @return [Array<Hash>] what each start gave, of those that were made
    def starts(cell) = @lines.filter_map { |(kind, key, _), fields| fields if kind == "cell" && key == cell.key }

    # @return [Array<Hash>] each time that somebody looked at what is held out
    def looks = @lines.filter_map { |(kind, _, _), fields| fields if kind == "look" }

    # @return [String, nil] why a subject is not there
    def absence(subject) = @lines[["absent", subject.key, nil]]&.fetch("reason")

    # @param name [String] of a recording
    # @return [String, nil] why it must not count, as a clause
    def disturbed(name) = @lines[["recording", name, nil]]&.fetch("disturbed")

    # @param name [String] of a recording
    # @return [Float] the machine's speed meanwhile, see Speed
    def recorded_turns_per_ms(name) = @lines.fetch(["recording", name, nil]).fetch("turns_per_ms")

    # @param name [String] of a document: a recording's or a machine's
    # @return [Data, nil]
    def document(name)
      path = path_of(name)
      PumaTuner::Document.read(path) if File.file?(path)
    end

    # @param name [String]
    # @param value [Data]
    # @return [Data] itself
    def keep(name, value)
      PumaTuner::Document.write(value, path_of(name))
      value
    end

    private

    def place(fields) = [fields.fetch("kind"), fields["key"], fields["start"]]

    def path_of(name) = File.join(@folder, "#{name.tr("/ ", "__")}.json")

    def read
      return {} unless File.file?(@path)
      PumaTuner::Prove::Journal.end_line(@path)
      PumaTuner::Prove::Journal.values(@path).each_with_object({}) do |fields, lines|
        lines[place(fields)] = fields
        # What was not there may have been set up since.
        lines.delete(["absent", fields["key"].split("/").first(SUBJECT_PARTS).join("/"), nil]) if fields["kind"] == "cell"
      end
    end
  end
end
