# frozen_string_literal: true

require_relative "cell"
require_relative "measured"
require_relative "times"

module Validation
  # What is still to be measured, in order: a subject's recordings, then its servers, each with all its cells.
  class Schedule
    # topology: one server's; cells: that it is loaded for
    Server = Data.define(:subject, :topology, :cells)

    # @param cells [Array<Cell>]
    # @param recorded_at [Array<PumaTuner::Topology>]
    # @param journal [Journal]
    # @param again [Boolean] whether cells that failed or were disturbed are measured once more, and subjects tried that were absent
    def initialize(cells:, recorded_at:, journal:, again: false)
      @recorded_at = recorded_at
      @journal = journal
      @again = again
      @all = cells
    end

    # @return [Array<Subject>]
    def subjects = @all.map(&:subject).uniq

    # @return [String] of a recording, in the journal
    def self.recording_name(subject, topology) = "recording #{subject.key} #{topology}"

    # @return [Array<PumaTuner::Topology>] at which the subject has not been recorded
    def unrecorded(subject)
      return [] if absent?(subject)
      @recorded_at.reject do |topology|
        name = self.class.recording_name(subject, topology)
        @journal.document(name) && !(@again && @journal.disturbed(name))
      end
    end

    # @return [Array<Server>]
    def servers(subject)
      wanted = @all.select { |cell| cell.subject == subject && wanted?(cell) }
      wanted.group_by(&:topology).map { |topology, cells| Server.new(subject:, topology:, cells:) }
    end

    # @param times [Times]
    # @return [Float] about
    def expected_s(times)
      subjects.sum do |subject|
        unrecorded(subject).size * times.recording_s(subject.workload) + servers(subject).sum { |server| times.session_s(subject.workload, server.cells.map(&:level)) }
      end
    end

    # @param times [Times]
    # @return [Array<String>] what will be done
    def lines(times)
      servers = subjects.flat_map { |subject| self.servers(subject) }
      rows = servers.map { |server| "  #{server.subject.key}  #{server.topology}: #{server.cells.map(&:level).join(" ")}" }
      recordings_count = subjects.sum { |subject| unrecorded(subject).size }
      measured_count = @all.size - servers.sum { |server| server.cells.size }
      [*rows, "#{recordings_count} recordings and #{servers.sum { |server| server.cells.size }} cells on #{servers.size} servers, " \
        "about #{duration(expected_s(times))}; #{measured_count} cells are measured already, or can't be"]
    end

    private

    def wanted?(cell)
      return false if absent?(cell.subject)
      fields = @journal.cell(cell)
      return true if fields.nil?
      measured = Measured.new(fields)
      @again && !(measured.failure || measured.disturbed).nil?
    end

    def absent?(subject) = @journal.absence(subject) && !@again

    def duration(seconds)
      return format("%.1f minutes", seconds / 60) if seconds < 5_400
      format("%.1f hours", seconds / 3_600)
    end
  end
end
