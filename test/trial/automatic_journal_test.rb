# frozen_string_literal: true

require "test_helper"
require "support/trials_made"
require "tempfile"

# What `auto` did follows from what it saw: its journal is decided anew, and says so where that comes out otherwise.
class TrialAutomaticJournalTest < TunerTest
  include TrialsMade

  COOL_DOWN_S = 60

  # As Automatic does it.
  #
  # @return [Trial::Automatic::Told]
  def round(journal, situation, mode, readings: [])
    step = Trial::Step.of(situation, cool_down_s: COOL_DOWN_S)
    statement = (step.kind == :step && mode != :observe) ? acted(journal, step, mode, readings) : step
    Trial::Automatic::Told.new(at_s: situation.at_s + 1, threads_count: 5, statement:, situation:).tap { |told| journal.told(told) }
  end

  def acted(journal, step, mode, readings)
    journal.plan(plan)
    decided = readings.each_index.map { |place| Trial::Decision.of(plan, readings.first(place + 1)) }
    last = decided.index(&:itself) || readings.size - 1
    (0..last).each { |place| journal.look(readings[place], decided[place]) }
    Trial::Step.outcome(step, mode:, plan:, readings: readings.first(last + 1), ended: decided[last])
  end

  # @yieldparam journal [Trial::AutomaticJournal]
  # @return [Array] what the block told, and the journal's path
  def journal(mode, file)
    journal = Trial::AutomaticJournal.new(file)
    journal.begin(mode:, cool_down_s: COOL_DOWN_S, started_at: "2026-01-01T00:00:00Z", server_pid: 7)
    yield journal
  end

  def replay(file) = Trial::AutomaticJournal.read(file.path).replay

  def fine = readings(plan, seconds: 8) { {} }

  def harmful = readings(plan, seconds: 8) { |_, canary| {errors: canary ? 2 : 0} }

  %i[observe trial auto].each do |mode|
    test "in mode #{mode} what is read again is what was told: reasons, steps, and what came of them" do
      Tempfile.create("journal") do |file|
        told = journal(mode, file) do |journal|
          restarted = Trial::Automatic::Told.new(at_s: 3.0, threads_count: 4, statement: Statement.of(:restarted), situation: nil)
          journal.told(restarted)
          [restarted, round(journal, situation(youngest_s: 1.0), mode), round(journal, situation, mode, readings: fine),
            round(journal, situation, mode, readings: harmful), round(journal, situation, mode, readings: readings(plan, seconds: 5) { {} })]
        end
        assert_equal told, replay(file)
        kinds = {observe: %i[step step step], trial: %i[tried undone undone], auto: %i[stepped undone undone]}
        assert_equal kinds.fetch(mode), told.last(3).map { |one| one.statement.kind }
      end
    end
  end

  test "one that was cut short goes as far as it goes" do
    Tempfile.create("journal") do |file|
      told = journal(:auto, file) { |journal| Array.new(3) { round(journal, situation, :auto, readings: fine) } }
      File.write(file.path, File.read(file.path).byteslice(0, File.size(file.path) - 20))
      assert_equal told.first(2), replay(file)
    end
  end

  test "where another version would decide otherwise that is said, of a step and of a trial" do
    Tempfile.create("journal") do |file|
      journal(:auto, file) { |journal| round(journal, situation, :auto, readings: harmful) }
      lines = File.read(file.path)
      File.write(file.path, lines.sub('"youngest_s":900.0', '"youngest_s":9.0'))
      assert_match(/after 1001 s this version says deployed, where undone was said/, assert_raises(InvalidMeasurement) { replay(file) }.message)
      File.write(file.path, lines.gsub(/"decision":\{[^{}]*\{[^{}]*\}\}/, '"decision":null'))
      assert_match(/ends a trial of \d+ threads otherwise/, assert_raises(InvalidMeasurement) { replay(file) }.message)
      [["x"], [], ["{}"], ['{"kind":"trial_journal","format":1}'], ['{"kind":"auto_journal","format":1}']].each do |other|
        File.write(file.path, other.join)
        assert_match(/it is no journal of auto/, assert_raises(InvalidDocument) { replay(file) }.message)
      end
      File.write(file.path, '{"kind":"auto_journal","format":2}')
      assert_match(/its format is 2, .* is newer/, assert_raises(InvalidDocument) { replay(file) }.message)
    end
  end
end
