# frozen_string_literal: true

require "test_helper"
require "socket"
require "tmpdir"

class ExportPrometheusClientTest < TunerTest
  Client = PumaTuner::Export::PrometheusClient

  test "where there is no exporter, the app's own figures are all there is, and one line says so" do
    text = nil
    _, errors = capture_io { 3.times { text = Client.text } }
    assert_equal "", text
    assert_match(/\Apuma_tuner: our figures are missing among those of prometheus-client \(PumaTuner.export was not called in puma.rb.*\)\n\z/, errors)
  end

  test "a text that was cut off is left out, as Prometheus would reject the app's own figures with it" do
    text = nil
    Dir.mktmpdir do |folder|
      UNIXServer.open("#{folder}/exporter.sock") do |listener|
        Thread.new do
          client = listener.accept
          client.gets("\r\n\r\n")
          client.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\npuma_tuner_x 1\npuma_tu")
          client.close
        end
        PumaTuner::Export.instance_variable_set(:@address, PumaTuner::Export::Address.parse("unix://#{folder}/exporter.sock"))
        _, errors = capture_io { text = Client.text }
        assert_match(/our figures are missing among those of prometheus-client \(IOError: it ended after 22 of 99 bytes\)/, errors)
      end
    end
    assert_equal "", text
  ensure
    PumaTuner::Export.instance_variable_set(:@address, nil)
  end
end
