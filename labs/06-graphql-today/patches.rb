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
      given.any? { |name| name.start_with?("-") } ? all - given.map { |name| name.delete_prefix("-") } : given
    end

    # @return [String, nil] why the cures don't fit the graphql that is loaded
    def unfit
      WRITTEN_AGAINST.each do |file, digest|
        path = $LOADED_FEATURES.find { |feature| feature.end_with?("/lib/#{file}") }
        return "#{file} is not loaded" unless path
        return "#{file} of graphql #{GraphQL::VERSION} is not the one they were written against" unless Digest::SHA256.file(path).hexdigest == digest
      end
      nil
    end
  end
end
