# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes. One renderer to a file; each registers itself.
  module Report
    autoload :Html, "puma_tuner/report/html"
    autoload :Json, "puma_tuner/report/json"
    autoload :Table, "puma_tuner/report/table"
    autoload :Text, "puma_tuner/report/text"
  end
end
