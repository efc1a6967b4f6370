# frozen_string_literal: true

# Is the advised setting the best one? Six shapes of work are recorded at three starting points each; `advise` names a setting for an asked rate; and p99 at that
# rate is measured at every setting of a grid. Ends with status 1 when a target is missed, and with 3 when noise leaves one open.
#
#   bin/exec rake advice                     (more than an hour; figures of use only on a machine with nothing else to do)
#   bin/exec rake advice OPTIONS=--quick     (some twelve minutes, to see whether it works)
#
# Both go on where they were interrupted: what has been measured is kept.

require_relative "support/bench"
%w[shapes judge measurement page].each { |name| require_relative "advice/#{name}" }

module AdviceCheck
  Options = Bench::Options.define("advice", page: "docs/measured/advice.md", needs: "all shapes, and no --quick", quick: "fewer settings, fewer and shorter rounds, to see whether it works; its numbers mean little",
    shapes: Shapes::NAMES, fresh: false, again: false) do |parser, given|
    parser.on("--shapes A,B", Array, "some of #{Shapes::NAMES.join(",")}") { |names| given[:shapes] = known(names, Shapes::NAMES) }
    parser.on("--fresh", "begin anew; without it, what has been measured before is not measured again") { given[:fresh] = true }
    parser.on("--advise-again", "ask for advice anew, from the recordings that are there") { given[:again] = true }
  end

  class Options
    # @return [Form]
    def form = FORMS.fetch(quick ? :quick : :full)

    # @return [Boolean] whether it is worth a page
    def whole? = super && shapes == Shapes::NAMES
  end

  # A whole run: measures what is missing, and judges.
  class Suite
    # @param options [Options]
    # @param machine [PumaTuner::Probe::MachineFacts] before it
    # @param folder [String] for what is measured
    def initialize(options, machine, folder: File.join(Journal::FOLDER, options.form.name))
      @options = options
      @machine = machine
      @folder = folder
      @shapes = options.shapes.map { |name| Shapes.find(name) }
      @journal = Journal.new(folder, fresh: options.fresh)
    end

    # @return [Page]
    def run
      begin_run unless @journal.run
      measurement = Measurement.new(journal: @journal, shapes: @shapes, form: @options.form, say: method(:say))
      @began_s, @expected_s = PumaTuner::Clock.now_s, 0
      measurement.advise_again if @options.again
      @expected_s = measurement.expected_s
      if @expected_s.zero?
        warn "advice: all is measured already, in #{@folder}; --fresh begins anew"
      else
        warn format("advice: %d shapes, about %.0f minutes", @shapes.size, (@expected_s / 60).ceil)
        measurement.call
      end
      page
    rescue Interrupt
      warn "advice: what was measured is kept in #{@folder}; the same command goes on from there"
      raise
    end

    private

    def say(text) = warn(format("advice, %.1f of about %.1f min: %s", (PumaTuner::Clock.now_s - @began_s) / 60, @expected_s / 60, text))

    def begin_run
      @journal.add("kind" => "run", "layout" => Journal::LAYOUT, "commit" => Bench::Provenance::COMMIT, "at" => Time.now.to_i,
        "turns_per_ms" => Validation::Speed.best.round, "leg_rounds_count" => Measured::LEG_ROUNDS_COUNT,
        "machine" => @machine.to_document.transform_keys(&:to_s))
    end

    # With the machine and the commit of when the measuring began.
    def page
      run = @journal.run
      machine = PumaTuner::Probe::MachineFacts.from_document(run.fetch("machine"))
      measured = @shapes.map { |shape| Measured.new(@journal, shape, @options.form) }
      starved = Shapes::STARVED_AT.map { |start| @journal.at("starved", start.to_s) }
      Page.new(machine:, at: Time.at(run.fetch("at")), commit: run.fetch("commit"), form: @options.form, measured:, starved:,
        leg_rounds_count: run["leg_rounds_count"], verdicts: Judge.verdicts(measured.flat_map(&:cases), starved))
    end
  end
end

Bench.program(__FILE__, AdviceCheck::Options) { |options, machine| AdviceCheck::Suite.new(options, machine).run }
