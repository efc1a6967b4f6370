# frozen_string_literal: true

module PumaTuner
  module Probe
    # Inside a server that is to run without YJIT: frameworks turn it on while they start (Rails 7.2 and newer do),
    # whatever the environment says. Nothing of the user's is edited.
    module YjitOff
      # This variable marks the environment of such a server.
      VARIABLE = "PUMA_TUNER_YJIT_OFF"

      # @return [void]
      def self.install = (RubyVM::YJIT.singleton_class.prepend(self) if defined?(RubyVM::YJIT))

      # It stands in the place of Ruby's method.
      # @return [false] as Ruby's own when there is nothing that it did
      def enable(*, **) = false
    end
  end
end
