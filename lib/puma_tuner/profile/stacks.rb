# frozen_string_literal: true

module PumaTuner
  module Profile
    # Decides which stacks count, and from where on: what a thread does while it waits for work is no cost, and what
    # stands above a request in every stack tells nothing.
    module Stacks
      # The frame in which Puma begins to serve a request.
      REQUEST = /(\A|[#.])handle_request\z/

      # Frames of ours, above the block that is repeated.
      REPEATED = /(\A|[#.])call_often\z/

      # A thread rests in these methods.
      RESTS = /(\A|[#.])(?:#{%w[pop shift sleep wait select wait_readable wait_any_interruptible join value accept
        accept_nonblock wait2 waitpid waitpid2 detach read_nonblock gets stop].join("|")})\z/

      OURS = File.expand_path("../..", __dir__)

      module_function

      # @param frames [Array<Frame>] root first
      # @return [Array<Frame>, nil] from the request or the repeated block on; nil when the thread waits for work
      def relevant(frames)
        below = frames.rindex { |frame| REQUEST.match?(frame.name) && !ours?(frame) }
        return frames[below..] if below
        below = frames.rindex { |frame| REPEATED.match?(frame.name) && ours?(frame) }
        return frames[(below + 1)..] if below
        frames unless frames.empty? || RESTS.match?(frames.last.name) || ours?(frames.last)
      end

      # @return [Boolean] whether it is code of this library
      def ours?(frame) = !frame.path.nil? && frame.path.start_with?(OURS)
    end
  end
end
