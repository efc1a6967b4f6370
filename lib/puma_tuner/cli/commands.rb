# frozen_string_literal: true

module PumaTuner
  module CLI
    # The verbs, by the words that call them.
    module Commands
      PumaTuner.autoload_folder(self, "#{__dir__}/commands")

      # Words => name of the class, as help lists them.
      OWN = {
        "tune" => :Tune, "measure" => :Measure, "model" => :Model, "predict" => :Predict, "advise" => :Advise,
        "prove" => :Prove, "report" => :Report, "profile" => :Profile, "diff" => :Diff, "tradeoff" => :Tradeoff,
        "lanes" => :Lanes, "requests" => :Requests, "load" => :Load, "calibrate" => :Calibrate, "fleet" => :Fleet,
        "compare" => :Compare,
        "top" => :Top, "trial" => :Trial, "auto" => :Auto, "completion" => :Completion, "version" => :Version
      }.freeze

      # A checkout has these commands, too; they know of findings once they are loaded.
      LABS = if PumaTuner.const_defined?(:Lab, false) && PumaTuner::Lab
        {"lab list" => "List", "lab setup" => "SetUp", "lab run" => "RunOne", "lab keep" => "Keep"}.freeze
      else
        {}.freeze
      end
      NO_LABS = "labs come with the project's repository, not with the gem: in a checkout, " \
        "`bin/exec puma_tuner lab list` names them (docs/reference/labs.md)"

      NAMES = {**OWN, **LABS}.freeze

      # Words that mean others.
      ALIASES = {"yjit" => %w[tradeoff yjit], "malloc" => %w[tradeoff malloc], "gc" => %w[tradeoff gc],
                 "--version" => %w[version], "-v" => %w[version]}.freeze

      class << self
        # @param name [String] the words that call it
        # @return [Class] of a Command
        def fetch(name) = OWN.key?(name) ? const_get(OWN.fetch(name)) : Lab::CommandLine.const_get(LABS.fetch(name))

        # @return [Hash{String => Class}]
        def all = NAMES.keys.to_h { |name| [name, fetch(name)] }

        # @param command [Class]
        # @return [String] the words that call it
        def name_of(command)
          (OWN.key(command.name[/\w+\z/].to_sym) if command.name.start_with?(name)) ||
            LABS.keys.find { |name| fetch(name) == command }
        end

        # @param word [String] that some commands begin with, such as "lab"
        # @return [Hash{String => Class}] those
        def parts_of(word)
          NAMES.keys.select { |name| name.start_with?("#{word} ") }.to_h { |name| [name, fetch(name)] }
        end

        # @param words [Array<String>] of the command line
        # @return [Array(Class, Array<String>)] the command, and the words that are left for it
        # @raise [UsageError]
        def find(words)
          words = [*ALIASES.fetch(words.first), *words.drop(1)] if ALIASES.key?(words.first)
          size = [2, 1].find { |count| NAMES.key?(words.first(count).join(" ")) } or raise UsageError, unknown(words)
          [fetch(words.first(size).join(" ")), words.drop(size)]
        end

        private

        def unknown(words)
          word = words.first
          return NO_LABS if word == "lab" && LABS.empty?
          verbs = NAMES.keys.map { |name| name[/\w+/] }.uniq
          parts = parts_of(word).keys
          return "name one of: #{parts.map { |name| "puma_tuner #{name}" }.join(", ")}" if parts.any?
          if word.start_with?("-")
            return "begin with a command, such as `puma_tuner tune`; `puma_tuner --help` lists them"
          end
          if word.end_with?(".ru")
            return "begin with a command: `puma_tuner tune #{word}`, or another; `puma_tuner --help` lists them"
          end
          likely = CommandLine.nearest(word, verbs + ALIASES.keys)
          "there is no command #{Host::Masking.words([word]).first.inspect}; " \
            "#{likely ? "did you mean #{likely}?" : "the commands are #{verbs.join(", ")}."} See `puma_tuner --help`."
        end
      end
    end
  end
end
