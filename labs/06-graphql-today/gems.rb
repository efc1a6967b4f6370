# frozen_string_literal: true

require "rubygems"

# The gems this lab looks at, in folders of their own: no Bundler, so that nothing but what is pinned here can be what runs.
#
#     bin/exec ruby labs/06-graphql-today/gems.rb
#
# installs them, and is the only step that downloads anything.
module GraphqlToday
  module Gems
    PINNED = {"graphql" => "2.6.14"}.freeze

    # Only the search needs these.
    FOR_SEARCH = {"graphql-c_parser" => "1.1.4", "stackprof" => "0.2.27", "ruby-prof" => "1.7.2"}.freeze

    module_function

    # @return [String] the folder of this Ruby's pinned gems
    def folder
      cache = ENV["PUMA_TUNER_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.expand_path("~/.cache"), "puma_tuner")
      File.join(cache, "labs", RUBY_VERSION)
    end

    # Puts a gem and what it depends on at the front of the load path.
    #
    # @param gems [Hash{String => String}] name and version
    # @raise [LoadError] when one is not installed
    def activate(gems)
      gems.each { |name, version| load_path_of(specification(name, version)) }
    end

    # @return [Boolean]
    def installed?(gems) = gems.all? { |name, version| File.exist?(specification_path(name, version)) }

    def install(gems)
      gems.each do |name, version|
        next if installed?(name => version)
        system({"RUBYOPT" => nil}, Gem.ruby, "-S", "gem", "install", name, "--version", version, "--no-document", "--install-dir", folder, exception: true)
      end
    end

    def load_path_of(specification)
      specification.full_require_paths.each { |path| $LOAD_PATH.unshift(path) unless $LOAD_PATH.include?(path) }
      specification.runtime_dependencies.each do |dependency|
        found = newest(dependency) and load_path_of(found)
      end
    end

    # @return [Gem::Specification, nil] nil: left to Ruby itself, whose standard library has it
    def newest(dependency)
      Dir[specification_path(dependency.name, "*")].filter_map { |path| Gem::Specification.load(path) }
        .select { |candidate| dependency.matches_spec?(candidate) }.max_by(&:version)
    end

    def specification(name, version)
      path = specification_path(name, version)
      File.exist?(path) or raise LoadError, "#{name} #{version} is not in #{folder}: run bin/exec ruby #{__FILE__}"
      Gem::Specification.load(path)
    end

    def specification_path(name, version) = File.join(folder, "specifications", "#{name}-#{version}.gemspec")
  end
end

GraphqlToday::Gems.install({**GraphqlToday::Gems::PINNED, **GraphqlToday::Gems::FOR_SEARCH}) if $PROGRAM_NAME == __FILE__
