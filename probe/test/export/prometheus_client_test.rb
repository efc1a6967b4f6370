# frozen_string_literal: true

require "test_helper"

class ExportPrometheusClientTest < TunerTest
  Client = PumaTuner::Export::PrometheusClient

  test "where there is no exporter, the app's own figures are all there is, and one line says so" do
    text = nil
    _, errors = capture_io { 3.times { text = Client.text } }
    assert_equal "", text
    assert_match(/\Apuma_tuner: our figures are missing among those of prometheus-client \(PumaTuner.export was not called in puma.rb.*\)\n\z/, errors)
  end
end
