# frozen_string_literal: true

module PumaTuner
  module Lab
    # A finding in each format of PumaTuner::Report, made of its parts.
    module FindingReport
      autoload :ClaimChart, "#{__dir__}/report/claim_chart"
      autoload :ClaimRows, "#{__dir__}/report/claim_rows"
      autoload :FindingChart, "#{__dir__}/report/finding_chart"
      autoload :Html, "#{__dir__}/report/html"
      autoload :Markdown, "#{__dir__}/report/markdown"
      autoload :Page, "#{__dir__}/report/html"
      autoload :Text, "#{__dir__}/report/text"
    end
  end
end
