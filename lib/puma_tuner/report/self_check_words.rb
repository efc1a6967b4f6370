# frozen_string_literal: true

module PumaTuner
  module Report
    # A self-check in words: the only place that has them.
    module SelfCheckWords
      # By kind of a likely cause, see Predict::LikelyCause.
      CAUSES = {
        lock: "waits for locks were replayed, not simulated; record with --locks",
        lock_not_watched: "requests wait for a lock that was not watched, or one is held for longer at that setting",
        cpu: "a request takes a different CPU time at that setting than where the others were recorded, as caches " \
          "and the cost of switching threads differ",
        gc: "garbage collection takes a different share of a request at that setting, as more threads keep more " \
          "objects alive, and more workers have more heaps",
        io: "waits for IO%<mostly>s take different times under that load; if only N are served at a time, as over N " \
          "connections, say so with --station %<kind>s=N",
        io_late: "no core was free for threads that came back from short system calls, such as reads of a cached " \
          "file; they waited inside them, and the GVL changed hands less often than simulated",
        sleep: "the app sleeps for different times at that setting",
        gvl_wait: "threads get the GVL by other rules than the simulated ones, or other threads of the process hold it",
        queue: "connections are spread over threads and workers more unevenly than simulated, or arrive differently",
        others: "others used up to %<taken>s of the machine while the settings were recorded; record them again when " \
          "it is quiet",
        load_not_ours: "the load did not come from puma_tuner, and random (Poisson) arrivals are assumed instead",
        no_part: "no single part of a request is off by that much; the machine was slower or busier during the " \
          "recording, or time is lost at the client"
      }.freeze

      class << self
        # @param check [Predict::SelfCheck, nil]
        # @return [Array<String>] what is beyond noise, to be told before anything else; none where nothing is
        def sentences(check)
          return [] if check.nil? || check.off.empty?
          [*check.off.map { |setting| setting(setting) }, *("All intervals are widened by this." if check.widened?)]
        end

        # One recording that is missed is told whole; of several, how far the worst figure of each is off, as whole
        # sentences for each would hide all that follows.
        #
        # @param check [Predict::SelfCheck, nil]
        # @return [String, nil] what is beyond noise; nil where nothing is
        def in_short(check)
          told = sentences(check)
          return (told.join(" ") if told.any?) unless check && check.off.size > 1
          off = check.off.map { |setting| "#{setting.name} (#{worst(setting)})" }
          "The model does not reproduce #{off.size} of #{check.settings.size} recordings: #{off.join("; ")}. " \
            "Details and likely causes stand below the forecasts" \
            "#{", whose intervals are widened by this" if check.widened?}."
        end

        # @param check [Predict::SelfCheck, nil]
        # @return [String, nil] that all is well; nil where it is not
        def reproduced(check)
          return if check.nil? || check.off.any? || check.settings.empty?
          told = check.settings.map { |one| "#{one.name}: #{one.figures.reject(&:part?).join(", ")}" }
          return "The model reproduces its recordings within noise (#{told.join("; ")})." if told.size > 1
          "The model reproduces its recording within noise (#{told.first}); " \
            "this says nothing of other settings, as none was recorded."
        end

        # @param setting [Predict::CheckedSetting] with figures beyond noise
        # @return [String]
        def setting(setting)
          wholes, parts = setting.off.partition { |figure| !figure.part? }
          figures = (wholes.any? ? wholes : parts).map { |figure| figure(figure) }
          "#{missed(setting, wholes)}: #{figures.join("; ")}. Likely cause: #{cause(setting.cause)}."
        end

        # @param setting [Predict::CheckedSetting] with figures beyond noise
        # @return [String] what is missed, without what it may come from, unless that is a deadlock
        def brief(setting)
          wholes = setting.off.reject(&:part?)
          stuck = " (#{cause(setting.cause)})" if setting.cause&.kind == :deadlock
          "#{missed(setting, wholes)}#{": #{wholes.join(", ")}" if wholes.any?}#{stuck}."
        end

        # @param figure [Predict::CheckedFigure]
        # @return [String] with both numbers
        def figure(figure)
          change = " (#{Units.change(1 + figure.error_ratio)})" unless figure.part?
          simulated, recorded = [figure.simulated.value, figure.recorded]
            .map { |number| (figure.metric == "throughput") ? Units.rate(number) : Units.duration(number) }
          return "#{simulated} requests/s simulated, #{recorded} recorded#{change}" if figure.metric == "throughput"
          "#{figure.metric} #{simulated} simulated, #{recorded} recorded#{change}"
        end

        # @param cause [Statement]
        # @return [String] a clause; of an older file, as it was told; of a newer version's, its name
        def cause(cause)
          return cause.facts.fetch("text") if cause.kind == :told
          return Statements.words(cause) if cause.kind == :deadlock
          words = CAUSES.fetch(cause.kind) { cause.kind.to_s.tr("_", " ") }
          words = format(words, **io(cause.facts["part"])) if cause.kind == :io
          words = format(words, taken: Units.percent(cause.facts["taken_ratio"])) if cause.facts["taken_ratio"]
          figure = cause.facts["figure"] or return words
          "#{words} (#{figure(Predict::CheckedFigure.from_document(figure))})"
        end

        private

        # @param part [String, nil] kind of most of it; nil where there is none, and of older files
        def io(part) = {mostly: part && ", mostly #{TopWords::WAITS.fetch(part, part)},", kind: part || "KIND"}

        def worst(setting)
          setting.off.reject(&:part?).max_by { |figure| figure.error_ratio.abs } ||
            "where the time of a request goes"
        end

        def missed(setting, wholes)
          return "The model does not reproduce the recording at #{setting.name}" if wholes.any?
          reproduced = setting.figures.reject(&:part?).map(&:metric).join(", ")
          "At #{setting.name} the model reproduces #{reproduced}, but not where the time of a request goes"
        end
      end
    end
  end
end
