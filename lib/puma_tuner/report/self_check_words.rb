# frozen_string_literal: true

module PumaTuner
  module Report
    # A self-check in words: the only place that has them.
    module SelfCheckWords
      # By kind of a likely cause, see Predict::LikelyCause.
      CAUSES = {
        lock: "waits for locks were replayed, not simulated; record with --locks",
        lock_not_watched: "requests wait for a lock that was not watched, or one is held for longer at that setting",
        cpu: "a request takes other CPU time at that setting than where the rest was recorded, " \
          "as caches and the cost of handing over between threads differ",
        gc: "garbage collection takes another part of a request at that setting, " \
          "as more threads keep more alive, and more workers have more heaps",
        io: "what the app waits for outside takes other times under that load; " \
          "where it is one service of few connections, --station io=N says so",
        sleep: "the app sleeps for other times at that setting",
        gvl_wait: "threads get the GVL otherwise than by the rules that are simulated, " \
          "or other threads of the process have it",
        queue: "connections are spread more unevenly over threads and workers, or come otherwise, than is simulated",
        load_not_ours: "the load was not ours, and requests that arrive by chance stand for it",
        no_part: "no part of a request is off by as much; " \
          "the machine was slower or busier while it was recorded, or time is lost at the client"
      }.freeze

      class << self
        # @param check [Predict::SelfCheck, nil]
        # @return [Array<String>] what is beyond noise, to be told before anything else; none where nothing is
        def sentences(check)
          return [] if check.nil? || check.off.empty?
          [*check.off.map { |setting| setting(setting) }, *("All intervals are wider by that." if check.widened?)]
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
            "What it misses, and likely causes, are told below the forecasts" \
            "#{", whose intervals are wider by that" if check.widened?}."
        end

        # @param check [Predict::SelfCheck, nil]
        # @return [String, nil] that all is well; nil where it is not
        def reproduced(check)
          return if check.nil? || check.off.any? || check.settings.empty?
          told = check.settings.map { |one| "#{one.name}: #{one.figures.reject(&:part?).join(", ")}" }
          return "The model reproduces its recordings within noise (#{told.join("; ")})." if told.size > 1
          "The model reproduces its recording within noise (#{told.first}); " \
            "how far that carries to other settings it does not tell, as none was recorded."
        end

        # @param setting [Predict::CheckedSetting] with figures beyond noise
        # @return [String]
        def setting(setting)
          wholes, parts = setting.off.partition { |figure| !figure.part? }
          figures = (wholes.any? ? wholes : parts).map { |figure| figure(figure) }
          "#{missed(setting, wholes)}: #{figures.join("; ")}. Likely cause: #{cause(setting.cause)}."
        end

        # @param setting [Predict::CheckedSetting] with figures beyond noise
        # @return [String] what is missed, without what it may come from
        def brief(setting)
          wholes = setting.off.reject(&:part?)
          "#{missed(setting, wholes)}#{": #{wholes.join(", ")}" if wholes.any?}."
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
          words = CAUSES.fetch(cause.kind) { cause.kind.to_s.tr("_", " ") }
          figure = cause.facts["figure"] or return words
          "#{words} (#{figure(Predict::CheckedFigure.from_document(figure))})"
        end

        private

        def worst(setting)
          setting.off.reject(&:part?).max_by { |figure| figure.error_ratio.abs } ||
            "where the time of a request goes"
        end

        def missed(setting, wholes)
          return "The model does not reproduce the recording at #{setting.name}" if wholes.any?
          reproduced = setting.figures.reject(&:part?).map(&:metric).join(", ")
          "At #{setting.name} the model reproduces #{reproduced}, and not where the time of a request goes"
        end
      end
    end
  end
end
