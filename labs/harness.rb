# frozen_string_literal: true

module PumaTuner
  # Experiments that anybody can repeat: a published claim, and what this machine measures of it.
  #
  # A lab is a folder `labs/NN-name/` with a README (question, claim, finding), the files that it measures, and a
  # `lab.rb`: one class, registered on its last line. It answers
  #   name, title, question, story    what it is about; story: number of the published story
  #   gems(quick:)                    Array<Gems::Pin> that its children run with
  #   expected_s(quick:)              about how long it takes
  #   call(run)                       Run -> Finding
  # and, where it needs more
  #   bundles(quick:)                 Array<Bundle> of the Gemfiles of applications that it serves
  #   sources(quick:)                 Array<Source> of authors' repositories, without which it measures less
  #   set_up(say:)                    makes ready what is no gem, or says what to install
  # It stands beside the stages, as Tuner does, and may use all of them; no stage knows of it.
  #
  # What a lab finds: finding (claims, tables, charts), outcome of each claim, by its margin. What it measures by: run,
  # with proofs and child, in an environment with pinned gems; what it has measured until it is interrupted: kept. Where
  # two variants of a verdict stand to each other: ratios. By which commit: provenance. What stays of a run in the
  # repository: readme. All long forms, one after the other: long_forms.
  module Lab
    PumaTuner.autoload_folder(self, "#{__dir__}/harness", claim: %i[Claim Count],
      finding: %i[Axis Chart Finding Series Table], provenance: %i[Commit Provenance], report: %i[FindingReport])

    Document.add("finding", "Lab::Finding")

    # The project's own. PUMA_TUNER_LABS names another folder of labs in their place.
    FOLDER = __dir__

    @registered = {}

    class << self
      # @param lab_class [Class] see above; called on the last line of its file
      def register(lab_class)
        lab = lab_class.new
        @registered[lab.name] = [lab, File.dirname(caller_locations(1, 1).first.absolute_path)]
      end

      # @return [Array<Object>] every lab, in the order of their folders' numbers
      # @raise [UsageError] when there is no folder of labs
      def all
        load_all
        @registered.values.map(&:first)
      end

      # @param name [String]
      # @return [Object] the lab
      # @raise [UsageError] for one that nobody knows
      def find(name)
        load_all
        found = @registered.fetch(name) do
          raise UsageError, "there is no lab #{name}; the labs are #{@registered.keys.join(", ")}"
        end
        found.first
      end

      # @param lab [Object]
      # @return [String] its folder
      def folder_of(lab) = @registered.fetch(lab.name).last

      private

      def load_all
        root = ENV.fetch("PUMA_TUNER_LABS", FOLDER)
        files = Dir[File.join(root, "*/lab.rb")].sort
        raise UsageError, "there are no labs in #{root}, which PUMA_TUNER_LABS names" if files.empty?
        files.each do |file|
          require file
          known = @registered.any? { |_, (_, folder)| folder == File.dirname(file) }
          known or raise InvariantError, "#{file} registers no lab"
        end
      end
    end
  end
end
