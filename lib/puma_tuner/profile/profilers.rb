# frozen_string_literal: true

module PumaTuner
  module Profile
    # The profilers there are: one file each, lib/puma_tuner/profile/profilers/NAME.rb, registered on its last line.
    module Profilers
      BUILT_IN = %w[vernier rperf pf2 stackprof ruby-prof memory_profiler perf].freeze

      @registered = {}

      class << self
        # @param profiler [Class] with a NAME
        def register(profiler) = @registered[profiler::NAME] = profiler

        # @param name [String] such as "vernier"
        # @return [Class]
        # @raise [UserMistake] for a name that is none
        def find(name)
          load_file(name) if BUILT_IN.include?(name)
          @registered.fetch(name) { raise UserMistake, "#{name.inspect} is no profiler; there is: #{(BUILT_IN | @registered.keys).join(", ")}" }
        end

        # @return [Array<Class>] in the order in which they are told to people
        def all = (BUILT_IN | @registered.keys).map { |name| find(name) }

        private

        def load_file(name) = require("puma_tuner/profile/profilers/#{name.tr("-", "_")}")
      end
    end
  end
end
