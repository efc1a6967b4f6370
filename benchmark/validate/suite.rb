# frozen_string_literal: true

%w[options journal measurement page].each { |name| require_relative name }

module Validation
  # A whole run: measures what is missing, predicts, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/validation.md", __dir__)

    # @param options [Options]
    # @param folder [String] for what is measured
    def initialize(options, folder: File.join(Journal::FOLDER, options.grid_name))
      @options = options
      @times = options.quick ? Times.quick : Times.full
      @journal = Journal.new(folder, fresh: options.fresh && !options.list)
      @schedule = Schedule.new(cells: options.cells, recorded_at: options.recorded_at, journal: @journal, again: options.again)
    end

    # @return [Integer] the exit status
    def run
      raise PumaTuner::UserMistake, "no cell is called that; --list tells their names" if @options.cells.empty?
      unless @options.recompute
        puts @schedule.lines(@times)
        return 0 if @options.list
        measure
      end
      raise PumaTuner::UserMistake, "nothing has been measured yet" unless @journal.run
      conclude
    end

    private

    def measure
      begin_run unless @journal.run
      began_s = now_s
      whole_s = @schedule.expected_s(@times)
      say = ->(text) { warn format("validate, %.1f of about %.1f min: %s", (now_s - began_s) / 60, whole_s / 60, text) }
      Measurement.new(journal: @journal, schedule: @schedule, recorded_at: @options.recorded_at, times: @times, say:).call
    end

    def begin_run
      @journal.add("kind" => "run", "at" => Time.now.utc.strftime("%F %H:%M UTC"), "ruby" => RUBY_DESCRIPTION, "turns_per_ms" => Speed.best.round,
        "machine" => PumaTuner::Host::MachineFacts.read.to_document.transform_keys(&:to_s))
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def conclude
      by_topology = @options.recorded_at.to_h { |topology| [topology, comparisons(topology)] }
      verdicts = Judge.verdicts(by_topology.values.first)
      page = Page.new(facts: @journal.run, options: @options, by_topology:, verdicts:, absences:, calibrated: calibrated?)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      verdicts.any?(&:missed?) ? 1 : 0
    end

    def comparisons(topology)
      @options.cells.group_by(&:subject).flat_map do |subject, cells|
        predictor = Predictor.of(@journal, subject, topology)
        name = Schedule.recording_name(subject, topology)
        predictor ? cells.filter_map { |cell| comparison(cell, predictor, @journal.disturbed(name), @journal.recorded_turns_per_ms(name)) } : []
      end
    end

    def comparison(cell, predictor, void, recorded_turns_per_ms)
      fields = @journal.cell(cell) or return
      measured = Measured.new(fields)
      return Comparison.new(cell:, measured:, forecast: nil, void:) if measured.requests_count.zero?
      predictor = predictor.on_a_machine(slower_ratio(cell, measured, predictor, recorded_turns_per_ms)) unless @options.uncorrected
      forecast = predictor.of(cell, measured)
      Comparison.new(cell:, measured:, forecast:, void:)
    rescue PumaTuner::UserMistake => error
      Comparison.new(cell:, measured:, forecast: nil, void:, failure: Reason.of(error))
    end

    # How much longer the machine took for the same work than while it was recorded. By the work itself where that is a fixed number
    # of turns of a loop; else by the loop beside it, which runs on another core's other half at times.
    def slower_ratio(cell, measured, predictor, recorded_turns_per_ms)
      return recorded_turns_per_ms / measured.turns_per_ms unless cell.subject.workload.fixed_work? && measured.cpu
      measured.cpu.value / predictor.recorded_cpu_ns
    end

    def absences = @schedule.subjects.filter_map { |subject| @journal.absence(subject)&.then { |reason| [subject.key, reason] } }.to_h

    def calibrated?
      recordings = @schedule.subjects.filter_map { |subject| @journal.document(Schedule.recording_name(subject, @options.recorded_at.first)) }
      recordings.all? { |observation| @journal.document(Predictor.machine_name(observation)) }
    end
  end
end
