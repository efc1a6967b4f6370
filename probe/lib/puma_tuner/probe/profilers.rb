# frozen_string_literal: true

module PumaTuner
  module Probe
    # The profilers there are: one file each, profilers/NAME.rb, registered on
    # its last line; the command adds those that it runs itself.
    module Profilers
      @paths = %w[vernier rperf pf2 stackprof ruby-prof memory_profiler].to_h do |name|
        [name, "puma_tuner/probe/profilers/#{name.tr("-", "_")}"]
      end
      @registered = {}

      class << self
        # @param profiler [Class] with a NAME
        def register(profiler) = @registered[profiler::NAME] = profiler

        # @param name [String] of one more
        # @param path [String] of the file that registers it, for require
        def add(name, path) = @paths[name] = path

        # @param name [String] such as "vernier"
        # @return [Class]
        # @raise [UsageError] for a name that is none
        def find(name)
          @paths[name]&.then { |path| require(path) }
          @registered.fetch(name) { raise UsageError, "#{name.inspect} is no profiler; there is: #{names.join(", ")}" }
        end

        # @return [Array<Class>] in the order in which they are told to people
        def all = names.map { |name| find(name) }

        private

        def names = @paths.keys | @registered.keys
      end
    end
  end
end
