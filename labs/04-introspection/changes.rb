# frozen_string_literal: true

module PumaTuner
  module Labs
    # The ten changes that the story names, each a commit of graphql's repository, and the story's own benchmark from its
    # first version to its last. Each change is held against the commit before it, on the schema of that time.
    module IntrospectionChanges
      # commit, before: whole names; release: the first that has it
      Change = Data.define(:what, :commit, :before, :release)

      # The story's first profile; and its second, "master", which no gem has.
      FIRST = "bed0b47fce220535f2b0fdbbd97d11887248efd8"
      LAST = "943e68f40a11f3f809ecd8485282eccdd6a6991b"

      # In the order of their time.
      CHANGES = [
        ["lazy handlers looked up once", "283fc19d72eb9890ea6254f7fc79600f3f0bfbeb", "9a39e064c0987ba86fda51309cfecff9349a4460", "1.3.0"],
        ["fields looked up once", "133ed1b1e0577df1db222a892d8afd95082c6d33", "283fc19d72eb9890ea6254f7fc79600f3f0bfbeb", "1.3.0"],
        ["visibility asked once", "1a28b10494bf508519f8f9b4a1a589c458837cf7", "5c1269d594ba0150ac67d32aa1e0f953c1daf4ef", "1.4.0"],
        ["what visibility gives, kept", "27b36e89ca24b1dc8ec3e2d27612a6fb99039e54", "1a28b10494bf508519f8f9b4a1a589c458837cf7", "1.4.0"],
        ["one middleware chain for all fields", "5549e0cff288a9aecd676603cbb62628a34b4ec8", "27b36e89ca24b1dc8ec3e2d27612a6fb99039e54", "1.4.0"],
        ["yield in the place of &block", "517cec3477097ddb05db0e02b6752be552d2e3dd", "be68bca49ac26daa821b7f9dc7b2e60660736dea", "1.4.0"],
        ["no FieldResult around a plain value", "07cbfa89031819d3886f220de8256e83ff59f298", "09ecf8f1ddc20c2901ec43897613542be72ec239", "1.5.0"],
        ["checks that remove themselves", "18d73a58314cab96c28a9861506b6ad18c8df3aa", "09ecf8f1ddc20c2901ec43897613542be72ec239", "1.5.0"],
        ["one object for no arguments", "4b07c9b46345144c7d88e429e7b55e09b0615517", "e7a65f95e7fa9fb7cbbb1966dfeef45405a5c9ac", "1.5.0"],
        ["one object for default arguments", "4956149df0a4ab8a449679bcd9af20b3dad72585", "4b07c9b46345144c7d88e429e7b55e09b0615517", "1.5.0"]
      ].map { |what, commit, before, release| Change.new(what:, commit:, before:, release:) }.freeze

      WHOLE = "1.3.0 to the story's master"

      REPOSITORY = Lab::Source.new(name: "graphql-ruby", address: "https://github.com/rmosolgo/graphql-ruby.git",
        commits: [FIRST, LAST, *CHANGES.flat_map { |change| [change.before, change.commit] }].uniq.freeze,
        needed_for: "the story's second profile, and which of its ten changes brought how much (releases are measured in their place)")

      # What each commit runs with, besides itself.
      GEMS = {"gem.racc" => "1.8.1", "gem.base64" => "0.3.0"}.freeze

      # Where there is no repository: releases, each with its own tests' schema, which grew a little.
      RELEASES = %w[1.3.0 1.4.5 1.5.3].to_h { |version| [version, {"gem.graphql" => version, **GEMS}] }.freeze

      # @param commit [String]
      # @return [Hash{String => String}] factors
      def self.at(commit) = {**GEMS, "git" => commit}

      # @return [Array<Change>] the whole way first; none where there is no repository
      def self.all = REPOSITORY.there? ? [Change.new(what: WHOLE, commit: LAST, before: FIRST, release: nil), *CHANGES] : []
    end
  end
end
