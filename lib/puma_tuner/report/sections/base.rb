# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What sections have in common: blocks are named without their module.
      class Base
        include Blocks

        # @return [Blocks::Section, nil] nil when there is nothing to show
        def self.of(...) = new(...).section
      end
    end
  end
end
