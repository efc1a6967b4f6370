# frozen_string_literal: true

module PumaTuner
  module Lab
    # A finding as blocks for PumaTuner::Report's writers, and the charts that it brings.
    module FindingReport
      PumaTuner.autoload_folder(self, "#{__dir__}/report", html: %i[ChartPage Html])
    end
  end
end
