# frozen_string_literal: true

module PumaTuner
  module Lab
    # A finding as blocks for PumaTuner::Report's writers, and the charts that it brings.
    module FindingReport
      autoload :ChartPage, "#{__dir__}/report/html"
      autoload :ClaimChart, "#{__dir__}/report/claim_chart"
      autoload :ClaimRows, "#{__dir__}/report/claim_rows"
      autoload :FindingChart, "#{__dir__}/report/finding_chart"
      autoload :Html, "#{__dir__}/report/html"
      autoload :Sections, "#{__dir__}/report/sections"
    end
  end
end
