# frozen_string_literal: true

require "digest"

module GraphqlToday
  # Loads the cures. Each file in patches/ holds one, and says on top what it cures.
  #
  # A cure replaces methods of one known version, so they are only loaded when the files of the gem that they were written against
  # are those in memory. Otherwise nothing is changed, and why is said.
  module Patches
    FOLDER = File.join(__dir__, "patches")

    # File of the gem => SHA-256 of the text the cures were written against.
    WRITTEN_AGAINST = {
      "graphql/execution/interpreter/runtime.rb" => "754cb3ddcd8ec29c1b1bbe9619458b02f8f8160fdb0a6591112858ae9110be42",
      "graphql/execution/interpreter/runtime/graphql_result.rb" => "ffdb6fa317d1afa5c5a40026174fa6f4eb79dba5e596bfb73cf3ebb18bd82188",
      "graphql/execution/field_resolve_step.rb" => "f01a693ddefed29c8dce1e89e72e04e3d41fa740b5548a41ca91d10ad2f9f0fe",
      "graphql/execution/selections_step.rb" => "f1db890c0e2c99f0ffc2c9b1c541f08f22b975cdfee3b96395eb4366d7fa44e7",
      "graphql/schema/field.rb" => "602ea8a1b93a633d0aa7601c316f9626b23ff4564a98de2dc1acc3712428cca3",
      "graphql/schema/object.rb" => "7fd396bd6802a7fc7f8644bd8c7d8814bd588e2df6e709fdc5b67d2f32f44a0c",
      "graphql/schema/member/has_authorization.rb" => "c27d3aae1bfb159253fbb2d6fb78df9498726e51dbe14223cd1dc23fd9e894fe",
      "graphql/schema/enum.rb" => "c8e5a4cdeb9eafec5978ec525852a872f9151384c99c8a40c17b64290bf70c0a",
      "graphql/schema/enum_value.rb" => "e2c00aef8e80e9b3c9fc0bb6c9e3e79d3027a02537657bc21fbcf2872dcecdea",
      "graphql/tracing/trace.rb" => "f54dcd42e451b08f246c94e1d2eb06a77daca9d87b20372bec25758865b31c4a"
    }.freeze

    module_function

    # @return [Array<String>] names of all cures, in the order in which they are loaded
    def all = Dir[File.join(FOLDER, "*.rb")].map { |path| File.basename(path, ".rb") }.sort

    # @param wanted [String] "0" none, "1" all, else names with commas between them; a name after "-" is left out of all
    # @return [Array<String>] what was loaded
    def load_named(wanted)
      names = names(wanted)
      return [] if names.empty?
      if (reason = unfit)
        warn "The patches are left out: #{reason}"
        return []
      end
      names.each { |name| require File.join(FOLDER, name) }
    end

    def names(wanted)
      return [] if ["", "0"].include?(wanted)
      return all if wanted == "1"
      given = wanted.split(",")
      unknown = given.map { |name| name.delete_prefix("-") } - all
      raise ArgumentError, "PATCHED=#{unknown.join(",")}: there is #{all.join(", ")}" if unknown.any?
      (given.any? { |name| name.start_with?("-") }) ? all - given.map { |name| name.delete_prefix("-") } : given
    end

    # @return [String] where the graphql that is loaded keeps its files
    def folder = File.dirname(GraphQL.method(:parse).source_location.first)

    # @return [String, nil] why the cures don't fit the graphql that is loaded
    def unfit
      WRITTEN_AGAINST.each do |file, digest|
        # Some are loaded when they are first needed, so it is asked for them by the path of the one that always is.
        path = File.join(folder, file)
        return "#{path} is not there" unless File.exist?(path)
        return "#{file} of graphql #{GraphQL::VERSION} is not the one they were written against" unless Digest::SHA256.file(path).hexdigest == digest
      end
      nil
    end
  end
end
