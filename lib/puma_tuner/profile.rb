# frozen_string_literal: true

require "fileutils"

module PumaTuner
  # A running app, a request or a block of Ruby -> Costs: which methods its
  # time, its calls and its objects go to, told by any profiler there is.
  #
  # What takes a profile: server_run (a whole server under load), request_run (single requests, of a server of ours or
  # of yours), block_run (a block of Ruby), `PumaTuner.profile` (a block of this very process). In the target process
  # Probe::Profiling takes it, as its Settings say; ProfilerMiddleware is for apps that let themselves be profiled. The
  # profilers are Probe::Profilers, whose gems library finds; perf alone watches from outside. What they leave is a file
  # of their own, which readers/* turn into samples. What is made of samples (reading): stacks (what is left out),
  # layers, aggregate, costs; outliers picks those that stand out; hints/*, one rule to a file, point at known patterns;
  # diff makes of two profiles a CostDiff.
  module Profile
    PumaTuner.autoload_folder(self, "#{__dir__}/profile", costs: %i[AllocationSite Costs Hint Layer MethodCost],
      diff: %i[CostDiff Diff MethodDiff], readers: %i[Readers UnreadableProfile],
      samples: %i[Allocation Call Frame Samples Stack])

    # @return [Array<Class>] all of them, in the order in which they are told to people: perf needs nothing inside of
    #   the process
    def self.profilers = [*Probe::Profilers.all, Perf]

    # @param name [String] such as "vernier"
    # @return [Class]
    # @raise [UsageError] for a name that is none
    def self.profiler(name)
      profilers.find { |profiler| name == profiler::NAME } or raise UsageError,
        "unknown profiler #{name.inspect}; choose one of #{profilers.map { |profiler| profiler::NAME }.join(", ")}"
    end

    # See PumaTuner.profile.
    def self.of_block(with:, mode:, interval_us:, times:, folder:)
      profiler = Probe::Profilers.find(with)
      mode = profiler.known_mode(mode)
      settings = Probe::Profiling::Settings.new(profiler: with, mode:, interval_us:, folder: File.expand_path(folder),
        scope: "window", token: nil, paths: Library.paths_of(profiler))
      FileUtils.mkdir_p(settings.folder)
      session = Probe::Profiling.session(settings)
      session.start
      began_ns = Clock.now_ns
      begin
        yield
      ensure
        duration_ns = Clock.now_ns - began_ns
        path = session.stop
      end
      Reading.new(profiler:, mode:, target: "a block in this process", whole: true)
        .call([path], duration_ns:, work_count: times, work_noun: "iteration")
    end
  end
end
