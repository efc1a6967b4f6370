# frozen_string_literal: true

# Gems of exact versions for a lab's child, without Bundler: put on $LOAD_PATH from the folder that `puma_tuner lab setup`
# filled for this Ruby. What is named is loaded in just that version; what it depends on, in the newest version that it
# allows of those that the lab has pinned (PUMA_TUNER_LAB_PINS; by hand: of the folder). What is in neither is left out, and
# a `require` of it fails.
#
#     require_relative "../support/gems"
#     LabGems.activate                          # what the lab declared of this variant (PUMA_TUNER_LAB_GEMS)
#     LabGems.activate("graphql" => "1.11.1")   # by hand
module LabGems
  module_function

  # @return [String] of this Ruby
  def folder
    cache = ENV.fetch("PUMA_TUNER_CACHE") { File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "puma_tuner") }
    File.join(cache, "labs", RUBY_VERSION)
  end

  # @param versions [Hash{String => String}] by gem
  def activate(versions = declared)
    versions.each { |name, version| add(specification(name, Gem::Requirement.new(version)) || missing(name, version)) }
    versions.each_key { |name| add_dependencies(Gem.loaded_specs.fetch(name)) }
  end

  # @return [Hash{String => String}]
  def declared = pairs("PUMA_TUNER_LAB_GEMS").to_h

  # @return [Array<Array(String, String)>] names and versions
  def pairs(variable) = ENV.fetch(variable, "").split.map { |gem| gem.split("=", 2) }

  # As RubyGems does it, but in front of everything, and without asking for dependencies in other places. A default gem of
  # this name is then no longer looked for.
  def add(specification)
    return if Gem.loaded_specs.key?(specification.name)
    Gem.loaded_specs[specification.name] = specification
    $LOAD_PATH.unshift(*specification.full_require_paths)
  end

  def add_dependencies(specification)
    specification.runtime_dependencies.each do |dependency|
      next if Gem.loaded_specs.key?(dependency.name)
      found = specification(dependency.name, dependency.requirement, of: pairs("PUMA_TUNER_LAB_PINS")) or next
      add(found)
      add_dependencies(found)
    end
  end

  # @param of [Array<Array(String, String)>] pinned; empty: all that is there
  # @return [Gem::Specification, nil] the newest that will do
  def specification(name, requirement, of: [])
    Dir[File.join(folder, "specifications", "#{name}-[0-9]*.gemspec")].filter_map { |path| Gem::Specification.load(path) }
      .select { |found| found.name == name && requirement.satisfied_by?(found.version) && (of.empty? || of.include?([name, found.version.to_s])) }.max_by(&:version)
  end

  def missing(name, version)
    abort("#{name} #{version} is not in #{folder}; puma_tuner lab setup installs what the labs need")
  end
end
