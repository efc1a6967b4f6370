# frozen_string_literal: true

module PumaTuner
  module Predict
    # What most likely makes a simulation miss its recording, by which part of the budget is off: a table, and no more than a hint.
    module LikelyCause
      # What a request demands. When one of these is off, the waits that follow from it are off as well, so they come first.
      DEMANDED = {
        "lock" => "waits for locks were replayed, not simulated; record with --locks",
        "cpu" => "a request takes other CPU time at that setting than where the rest was recorded, as caches and the cost of handing over between threads differ",
        "gc" => "garbage collection takes another part of a request at that setting, as more threads keep more alive, and more workers have more heaps",
        "io" => "what the app waits for outside takes other times under that load; where it is one service of few connections, --station io=N says so",
        "sleep" => "the app sleeps for other times at that setting"
      }.freeze

      # What comes of how requests meet.
      FOLLOWING = {
        "gvl_wait" => "threads get the GVL otherwise than by the rules that are simulated, or other threads of the process have it",
        "queue" => "connections are spread more unevenly over threads and workers, or come otherwise, than is simulated"
      }.freeze

      # Locks that were watched are simulated.
      WATCHED_LOCK = "requests wait for a lock that was not watched, or one is held for longer at that setting"

      # Nobody recorded how requests came.
      NOT_OURS = "the load was not ours, and requests that arrive by chance stand for it"

      NO_PART = "no part of a request is off by as much; the machine was slower or busier while it was recorded, or time is lost at the client"

      # @param off [Array<CheckedFigure>] beyond noise
      # @param recorded [Model::Recorded]
      # @param locks_watched [Boolean]
      # @return [String, nil] a clause; nil where nothing is off
      def self.of(off, recorded:, locks_watched:)
        return if off.empty?
        demanded, following = [DEMANDED, FOLLOWING].map { |causes| largest(off.select { |figure| causes.key?(figure.metric) }) }
        return NO_PART unless demanded || following
        return NOT_OURS if !demanded && following.metric == "queue" && recorded.p50_ns.nil?
        part = demanded || following
        text = (part.metric == "lock" && locks_watched) ? WATCHED_LOCK : {**DEMANDED, **FOLLOWING}.fetch(part.metric)
        "#{text} (#{part.sentence})"
      end

      def self.largest(figures) = figures.max_by { |figure| (figure.simulated.value - figure.recorded).abs }
      private_class_method :largest
    end
  end
end
