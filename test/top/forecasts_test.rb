# frozen_string_literal: true

require "test_helper"
require "support/top_builders"
require "tmpdir"

class TopForecastsTest < TunerTest
  include TopBuilders

  kind :integration

  test "a server's folder may be called in any language, where the locale knows none" do
    locale, ENV["LC_ALL"] = ENV["LC_ALL"], "C"
    Dir.mktmpdir do |folder|
      directory = File.join(folder, "café").tap { |path| Dir.mkdir(path) }
      forecasts = Top::Forecasts.new(server(pid: Process.pid).with(directory:), window_s: 0.1)
      forecasts.start
      wait_until("its first word") { forecasts.take || forecasts.outlook }
      assert_equal "few_requests", forecasts.outlook.why_not, forecasts.outlook.detail
    ensure
      forecasts&.stop
    end
  ensure
    ENV["LC_ALL"] = locale
  end
end
