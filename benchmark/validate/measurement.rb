# frozen_string_literal: true

require "tmpdir"
require_relative "calibration"
require_relative "predictor"
require_relative "reason"
require_relative "recorder"
require_relative "schedule"
require_relative "servers"
require_relative "side_by_side"

module Validation
  # Measures what is still to be measured, into the journal.
  class Measurement
    # @param journal [Journal] with its run
    # @param schedule [Schedule]
    # @param form [Symbol] of Grid::FORMS
    # @param say [#call] told what comes next
    def initialize(journal:, schedule:, form:, say:)
      @journal = journal
      @schedule = schedule
      @form = form
      @say = say
      @cores_count = PumaTuner::Probe::MachineFacts.read.cores_count
    end

    def call
      Dir.mktmpdir("validation") do |folder|
        @servers = Servers.new(turns_per_ms: @journal.run.fetch("turns_per_ms"), folder:)
        @schedule.subjects.each { |subject| measure(subject) }
      end
    end

    private

    def measure(subject)
      servers = @schedule.servers(subject)
      return if servers.empty? && @schedule.unrecorded(subject).empty?
      return side_by_side(subject, servers) unless subject.workload.made? || servers.flat_map(&:cells).any? { |cell| cell.level.wrk? }
      @schedule.unrecorded(subject).each { |at| record(subject, at) }
      servers.each { |server| load(server) }
    rescue PumaTuner::UserMistake => error
      reason = Reason.of(error)
      @say.call("#{subject.key} is left out: #{reason}")
      @journal.add("kind" => "absent", "key" => subject.key, "reason" => reason)
    end

    # Each start of its servers by itself; the first has the recordings.
    def side_by_side(subject, servers)
      at_settings = @schedule.unrecorded(subject)
      [0, *servers.map(&:start)].uniq.each do |start|
        of_start = servers.select { |server| server.start == start }
        recordings = (start == 0) ? recordings(subject, at_settings) : []
        next if of_start.empty? && recordings.empty?
        @say.call("#{subject.key} side by side: recorded at #{recordings.map(&:topology).join(" ")}, measured at #{of_start.map(&:topology).join(" ")}")
        times = Times.of(@form, subject.workload)
        observations, cells, turns_per_ms = SideBySide.new(recordings:, sessions: of_start.map { |server| session(server, times) }, times:, seed: start).call
        at_settings.each { |at| keep(subject, at, observations, turns_per_ms) } if observations.any?
        cells.each_value { |fields| @journal.add(fields) }
      end
    end

    # @return [Array<SideBySide::Recording>] each setting once, whatever it is recorded for
    def recordings(subject, at_settings)
      topologies = at_settings.flat_map { |at| [at.topology, *companions_of(at)] }.uniq
      topologies.map do |topology|
        traffic = PumaTuner::Load::Traffic.new(mix: subject.workload.mix, generator: PumaTuner::Load::Native.new,
          connections_count: Grid.recorded_connections_count(subject.workload, topology), seed: 0)
        SideBySide::Recording.new(@servers.command(subject), topology, traffic, load_s(subject.workload))
      end
    end

    def companions_of(at) = at.companions ? PumaTuner::Measure::Companions.of(at.topology, Grid::WORKERS) : []

    def session(server, times)
      plans = server.cells.map { |cell| Session::Plan.new(cell:, rate_per_s: nil, connections_count: cell.level.connections_count(cell.topology), load_s: load_s(cell.subject.workload)) }
      Session.new(command: @servers.command(server.subject), topology: server.topology, plans:, times:, start: server.start, cores_count: @cores_count)
    end

    def load_s(workload) = Times.of(@form, workload).load_s_at(1_000.0 / workload.nominal_ms)

    # Whatever disturbed it disturbed the cells as much.
    def keep(subject, at, observations, turns_per_ms)
      observation = observations.fetch(at.topology).with(companions: observations.values_at(*companions_of(at)).freeze)
      calibrate(observation)
      name = Schedule.recording_name(subject, at)
      @journal.add("kind" => "recording", "key" => name, "foreign_cpu_ratio" => nil, "turns_per_ms" => turns_per_ms, "disturbed" => nil)
      @journal.keep(name, observation)
    end

    def record(subject, at)
      @say.call("recording #{subject.key} at #{at}")
      recording = Recorder.new(servers: @servers, form: @form, fastest: @journal.run.fetch("turns_per_ms")).call(subject, at)
      calibrate(recording.observation)
      name = Schedule.recording_name(subject, at)
      @journal.add("kind" => "recording", "key" => name, "foreign_cpu_ratio" => recording.foreign_cpu_ratio, "turns_per_ms" => recording.turns_per_ms,
        "disturbed" => recording.disturbed)
      @journal.keep(name, recording.observation)
    end

    # Kept with the measurements, so that predictions made anew are of the same machine.
    def calibrate(observation)
      name = Predictor.machine_name(observation)
      return if @journal.document(name)
      @journal.keep(name, Calibration.new(servers: @servers, say: @say).machine(observation))
    end

    def load(server)
      subject = server.subject
      @say.call("#{subject.key} #{server.topology}: #{server.cells.map(&:level).join(" ")}")
      at = @schedule.recorded_at(subject).first
      predictor = Predictor.of(@journal, subject, at)
      plans = server.cells.map { |cell| plan(cell, predictor) }
      session = Session.new(command: @servers.command(subject), topology: server.topology, plans:, times: Times.of(@form, subject.workload), start: server.start,
        cores_count: @cores_count, turns_per_ms: @journal.recorded_turns_per_ms(Schedule.recording_name(subject, at)))
      session.call.each_value { |fields| @journal.add(fields) }
    end

    def plan(cell, predictor)
      capacity_per_s = predictor.capacity_per_s(cell.topology)
      rate_per_s = cell.level.factor * capacity_per_s if cell.level.open?
      Session::Plan.new(cell:, rate_per_s:, connections_count: rate_per_s ? Session::OPEN_CONNECTIONS_COUNT : cell.level.connections_count(cell.topology),
        load_s: Times.of(@form, cell.subject.workload).load_s_at(rate_per_s || capacity_per_s))
    end
  end
end
