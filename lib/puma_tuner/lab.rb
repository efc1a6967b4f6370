# frozen_string_literal: true

module PumaTuner
  # Experiments that anybody can repeat: a published claim, and what this machine measures of it.
  #
  # A lab is a folder `labs/NN-name/` with a README (question, claim, finding), the files that it measures, and a `lab.rb`:
  # one class, registered on its last line. It answers
  #   name, title, question, story    what it is about; story: number of the published story
  #   gems(quick:)                    Array<Gems::Pin> that its children run with
  #   expected_s(quick:)              about how long it takes
  #   call(run)                       Run -> Finding
  # and, where it needs more
  #   bundles(quick:)                 Array<Bundle> of the Gemfiles of applications that it serves
  #   set_up(say:)                    makes ready what is no gem, or says what to install
  # It stands beside the stages, as Tuner does, and may use all of them; no stage knows of it.
  #
  # What a lab finds: finding (claims, tables, charts), outcome of each claim, by its margin. What it measures by: run, with block_proof, served_proof
  # and child, in an environment with pinned gems; what it has measured until it is interrupted: kept. Where two variants of a verdict stand to each other: ratios.
  module Lab
    autoload :Axis, "puma_tuner/lab/finding"
    autoload :BlockProof, "puma_tuner/lab/block_proof"
    autoload :Bundle, "puma_tuner/lab/bundle"
    autoload :Chart, "puma_tuner/lab/finding"
    autoload :Child, "puma_tuner/lab/child"
    autoload :Claim, "puma_tuner/lab/claim"
    autoload :Commands, "puma_tuner/lab/commands"
    autoload :Count, "puma_tuner/lab/claim"
    autoload :Finding, "puma_tuner/lab/finding"
    autoload :Gems, "puma_tuner/lab/gems"
    autoload :Kept, "puma_tuner/lab/kept"
    autoload :Margin, "puma_tuner/lab/margin"
    autoload :Outcome, "puma_tuner/lab/outcome"
    autoload :Ratios, "puma_tuner/lab/ratios"
    autoload :Run, "puma_tuner/lab/run"
    autoload :ServedCommands, "puma_tuner/lab/served_commands"
    autoload :ServedProof, "puma_tuner/lab/served_proof"
    autoload :Series, "puma_tuner/lab/finding"
    autoload :Table, "puma_tuner/lab/finding"
    autoload :Times, "puma_tuner/lab/times"

    # The project's own. PUMA_TUNER_LABS names another folder of labs in their place.
    FOLDER = File.expand_path("../../labs", __dir__)

    # In a fingerprint: what versions of gems, and of what they need, bring with them. Nobody has to declare that.
    FOLLOWS_FROM_GEMS = ["gem ", "extension "].freeze

    @registered = {}

    class << self
      # @param lab_class [Class] see above; called on the last line of its file
      def register(lab_class)
        lab = lab_class.new
        @registered[lab.name] = [lab, File.dirname(caller_locations(1, 1).first.absolute_path)]
      end

      # @return [Array<Object>] every lab, in the order of their folders' numbers
      # @raise [UserMistake] when there is no folder of labs
      def all
        load_all
        @registered.values.map(&:first)
      end

      # @param name [String]
      # @return [Object] the lab
      # @raise [UserMistake] for one that nobody knows
      def find(name)
        load_all
        @registered.fetch(name) { raise UserMistake, "there is no lab #{name}; there is #{@registered.keys.join(", ")}" }.first
      end

      # @param lab [Object]
      # @return [String] its folder
      def folder_of(lab) = @registered.fetch(lab.name).last

      private

      def load_all
        root = ENV.fetch("PUMA_TUNER_LABS", FOLDER)
        files = Dir[File.join(root, "*/lab.rb")].sort
        raise UserMistake, "there are no labs in #{root}. They come with the repository, not with the gem: run this in a checkout." if files.empty?
        files.each do |file|
          require file
          known = @registered.any? { |_, (_, folder)| folder == File.dirname(file) }
          known or raise InvariantError, "#{file} registers no lab"
        end
      end
    end
  end
end
