# frozen_string_literal: true

%w[options journal measurement page].each { |name| require_relative name }

module Validation
  # A whole run: measures what is missing, predicts, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/validation.md", __dir__)

    # @param options [Options]
    # @param folder [String] for what is measured
    # @param measurement [#new] of what measures
    def initialize(options, folder: File.join(Journal::FOLDER, options.grid_name), measurement: Measurement)
      @measurement = measurement
      @options = options
      @folder = folder
      @times = options.quick ? Times.quick : Times.full
      @journal = Journal.new(folder, fresh: options.fresh && !options.list)
      @schedule = Schedule.new(cells: options.cells, recorded_at: options.recorded_at, journal: @journal, again: options.again)
    end

    # Exit codes, as `puma_tuner` has them.
    MISSED = 1
    UNMEASURED = 3

    # @return [Integer] the exit status: 3 when a cell that was asked for could not be measured, as then the targets are not
    #   judged on all of them; else 1 when a target is missed; else 3 when noise leaves open whether one is met
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
      @measurement.new(journal: @journal, schedule: @schedule, recorded_at: @options.recorded_at, times: @times, say:).call
    rescue Interrupt
      kept_count = @options.cells.count { |cell| @journal.cell(cell) }
      warn "validate: #{kept_count} of #{@options.cells.size} cells are kept in #{@folder}; the same command goes on from there, --recompute shows what there is"
      raise
    end

    def begin_run
      @journal.add("kind" => "run", "layout" => Journal::LAYOUT, "commit" => Provenance::COMMIT, "at" => Time.now.utc.strftime("%F %H:%M UTC"), "ruby" => RUBY_DESCRIPTION,
        "turns_per_ms" => Speed.best.round, "machine" => PumaTuner::Host::MachineFacts.read.to_document.transform_keys(&:to_s))
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def conclude
      by_topology = @options.recorded_at.to_h { |topology| [topology, comparisons(topology)] }
      first, judged = by_topology.first
      verdicts = Judge.verdicts(judged)
      page = Page.new(facts: @journal.run, options: @options, by_topology:, corrected: corrected(first, judged), verdicts:, unmeasured:, calibrated_at:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      status(verdicts)
    end

    # Of a grid that was narrowed, a target may have nothing that it is about.
    def status(verdicts)
      return UNMEASURED if unmeasured.any? || (@options.whole? && verdicts.any?(&:unmeasured?))
      return MISSED if verdicts.any?(&:missed?)
      verdicts.any?(&:noisy?) ? UNMEASURED : 0
    end

    # What a user gets: the forecast of the recording, for the load that there was.
    def comparisons(topology) = compare(@options.cells, topology) { |predictor, _, _| predictor }

    # The same of those that nobody disturbed, for the machine as fast as it was meanwhile: what is left is the model's.
    # @param compared [Array<Comparison>]
    def corrected(topology, compared)
      compare(compared.reject(&:disturbed).map(&:cell), topology) do |predictor, cell, measured|
        predictor.on_a_machine(slower_ratio(cell, measured, predictor, @journal.recorded_turns_per_ms(Schedule.recording_name(cell.subject, topology))))
      end
    end

    # @yieldparam predictor [Predictor]
    # @yieldparam cell [Cell]
    # @yieldparam measured [Measured]
    # @yieldreturn [Predictor] the one to predict the cell with
    def compare(cells, topology)
      cells.group_by(&:subject).flat_map do |subject, of_subject|
        predictor = Predictor.of(@journal, subject, topology) or next []
        void = @journal.disturbed(Schedule.recording_name(subject, topology))
        of_subject.filter_map { |cell| measured(cell)&.then { |measured| comparison(cell, measured, void) { yield(predictor, cell, measured) } } }
      end
    end

    # @return [Measured, nil]
    def measured(cell) = @journal.cell(cell)&.then { |fields| Measured.new(fields) }&.then { |measured| measured unless measured.failure }

    def comparison(cell, measured, void)
      Comparison.new(cell:, measured:, forecast: yield.of(cell, measured), void:)
    rescue PumaTuner::UserMistake => error
      Comparison.new(cell:, measured:, forecast: nil, void:, failure: Reason.of(error))
    end

    # How much longer the machine took for the same work than while it was recorded. By the work itself where that is a fixed number
    # of turns of a loop; else by the loop beside it, which runs on another core's other half at times.
    def slower_ratio(cell, measured, predictor, recorded_turns_per_ms)
      return recorded_turns_per_ms / measured.turns_per_ms unless cell.subject.workload.fixed_work? && measured.cpu
      measured.cpu.value / predictor.recorded_cpu_ns
    end

    # @return [Hash{String => String}] what was asked for and not measured, subjects or cells, with the reason
    def unmeasured
      @unmeasured ||= @options.cells.group_by(&:subject).flat_map { |subject, cells|
        absence = @journal.absence(subject)
        absence ? [[subject.key, absence]] : cells.filter_map { |cell| reason_unmeasured(cell)&.then { |reason| [cell.key, reason] } }
      }.to_h
    end

    # Recordings come before cells, so a cell that is there has one.
    def reason_unmeasured(cell)
      fields = @journal.cell(cell)
      fields ? Measured.new(fields).failure : "it has not been measured yet"
    end

    # @return [Array<String>, nil] when the machine was calibrated, for each Ruby and Puma; nil where it was not for one of them
    def calibrated_at
      recordings = @schedule.subjects.filter_map { |subject| @journal.document(Schedule.recording_name(subject, @options.recorded_at.first)) }
      machines = recordings.map { |observation| Predictor.machine_name(observation) }.uniq.map { |name| @journal.document(name) }
      machines.map { |machine| machine.calibrated.calibrated_at } if machines.all?
    end
  end
end
