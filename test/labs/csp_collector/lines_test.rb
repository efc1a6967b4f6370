# frozen_string_literal: true

require "test_helper"
require "load/scripted_server"
require_relative "../../../labs/02-csp-collector/lab"

# Answers held against lines, where many requests are under way when a load ends.
class CspLinesTest < TunerTest
  Labs = PumaTuner::Labs

  LINE = %({"time":"2026-01-31T12:00:00.000Z","report":{"a":1}}\n)

  # @param extra_line_at [Integer, nil] the request for which two lines are written
  def send_load(extra_line_at: nil)
    Labs::CspLines.open([{"a" => 1}]) do |lines|
      file = File.open(lines.path("a server"), "a").tap { |opened| opened.sync = true }
      served_count = 0
      answer = lambda do |*|
        sleep 0.05
        file.write(LINE * (((served_count += 1) == extra_line_at) ? 2 : 1))
        201
      end
      ScriptedServer.serve(answer) do |server|
        traffic = PumaTuner::Load::Traffic.new(mix: PumaTuner::Load::Mix.of_paths(["/reports"]), generator: PumaTuner::Load::Native.new, connections_count: 10, seed: 1)
        return Labs::CspTraffic.new(traffic, lines).send_to(server.url, duration_s: 0.2)
      end
    ensure
      file&.close
    end
  end

  test "each line has its response, also of what was under way at the end" do
    outcome = send_load
    assert_nil outcome.complaint
    assert_operator outcome.drained_count, :>, 0
  end

  test "one line more than there are answers is found out" do
    assert_match(/answers were 201, and \d+ lines were written/, assert_raises(PumaTuner::InvalidMeasurement) { send_load(extra_line_at: 15) }.message)
  end
end
