# frozen_string_literal: true

require "zlib"
require_relative "grid"
require_relative "measured"
require_relative "times"

module Validation
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
end
