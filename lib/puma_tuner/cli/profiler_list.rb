# frozen_string_literal: true

module PumaTuner
  module CLI
    # The profilers, for people who choose one.
    class ProfilerList
      # @param out [IO]
      def initialize(out)
        @out = out
      end

      def print
        Profile.profilers.each do |profiler|
          @out.puts("#{profiler::NAME} (#{state(profiler)})",
            *profiler::MODES.map { |mode, meaning| format("  %-10s %s", mode, meaning) }, "")
        end
        @out.puts("docs/reference/profilers.md says what each is good for, and what it costs.")
      end

      private

      def state(profiler)
        return profiler.new.why_not || "installed" unless profiler::GEM
        if Profile::Library.installed?(profiler)
          "installed"
        else
          "not installed: puma_tuner profile --install #{profiler::NAME}"
        end
      end
    end
  end
end
