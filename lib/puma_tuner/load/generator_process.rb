# frozen_string_literal: true

module PumaTuner
  module Load
    # What the native generator's own process does: it reads a plan, runs it, and writes what came of it. It needs this
    # file and the extension only, as there is one such process for each window of a load, and to load more takes more
    # CPU than all else that it does before it begins.
    #
    # @api private
    module GeneratorProcess
      # Ctrl-C ends the load early, and what there is by then counts.
      #
      # @param input [IO] with the plan
      # @param output [IO] to which the figures go, as one line of their own: errors may stand before it
      # @return [void]
      def self.serve(input, output)
        stopped = false
        trap("INT") { stopped = true }
        plan = Marshal.load(input.read) # rubocop:disable Security/MarshalLoad -- written by our own parent
        trap("INT") { (stopped = true) && Loop.stop }
        open_files_max = Process.getrlimit(:NOFILE).last
        Process.setrlimit(:NOFILE, open_files_max, open_files_max)
        return if stopped
        output.write("\n", [Marshal.dump(Loop.run(plan))].pack("m0"))
      end

      # In the parent.
      #
      # @param text [String] all that the process wrote
      # @return [Hash{Symbol => Object}, nil] as ext/puma_tuner_load/bindings.c makes them; nil where there are none
      def self.figures(text)
        Marshal.load(text.lines.last.to_s.unpack1("m0")) # rubocop:disable Security/MarshalLoad -- by our own child
      rescue ArgumentError, TypeError
        nil
      end
    end
  end
end
