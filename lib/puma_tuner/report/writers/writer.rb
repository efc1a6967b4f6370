# frozen_string_literal: true

module PumaTuner
  module Report
    module Writers
      # What all writers have in common: a method for each block, found by the block's name.
      class Writer
        METHODS = (Blocks.constants - [:InOrder]).to_h { |name|
          [Blocks.const_get(name),
            name.to_s.gsub(/(?<=.)[A-Z]/) { |letter| "_#{letter}" }.downcase.to_sym]
        }.freeze

        private

        def write(block) = send(METHODS.fetch(block.class), block)
      end
    end
  end
end
