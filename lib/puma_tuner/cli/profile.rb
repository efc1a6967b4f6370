# frozen_string_literal: true

require "securerandom"

module PumaTuner
  module CLI
    # puma_tuner profile: which methods an app's time, calls or objects go to, by any profiler.
    class Profile < Dry::CLI::Command
      include AppOptions

      desc "Tell which methods time, calls and objects go to: of a whole server under load, of single requests, of a block of Ruby"
      option :with, desc: "profiler, default: stackprof, and vernier with --odd; --list names them"
      option :mode, desc: "what it looks at, default: the profiler's usual; --list names them"
      option :interval, desc: "microseconds between samples, default: the profiler's usual"
      option :duration, default: "10", desc: "seconds to look"
      option :warmup, default: "3", desc: "seconds of load, or of the block, before"
      option :load, type: :boolean, default: true, desc: "send requests to it (see --path, --requests); with --no-load its own traffic is looked at"
      TrafficOptions.declare(self, :rate, :arrivals)
      option :topology, desc: "workers x threads, such as 2x3, default: the app's own"
      option :odd, type: :flag, default: false, desc: "keep only the requests whose budget stands out: slowest, GVL wait, garbage collection"
      option :request, desc: "path: single requests of it, one at a time, from Puma's taking to the end of the answer"
      option :url, desc: "the same of a server that runs already, with PumaTuner::ProfilerMiddleware in it; needs --token"
      option :token, desc: "the one that the middleware knows, for --url"
      option :times, desc: "requests with --request or --url, default: 20; 1 of a profiler that follows every call"
      option :block, desc: "Ruby file with blocks, instead of an app (docs/prove.md); --name chooses one"
      option :name, desc: "of the block"
      option :iterations, desc: "of the block, default: as many as fit into --duration; 1 of a profiler that follows every call"
      option :read, desc: "a profiler's own file, or several joined by commas, instead of taking a profile"
      option :whole, type: :flag, default: false, desc: "of --read: keep also what stands above a request, and threads that wait"
      option :list, type: :flag, default: false, desc: "name the profilers, their modes, and whether they are installed"
      option :install, desc: "install a profiler (or: all) outside of any bundle, where this command finds it"
      option :output, desc: "file for the profile, default: profile.json in the app's tmp/puma_tuner; the profiler's own files go into a folder beside it"
      option :html, desc: "file for an HTML report with a flame graph"
      example [
        "config.ru --path /articles                       # a server under load",
        "--with rperf --mode wall -- bundle exec puma     # whatever a command serves; waits, too",
        "config.ru --odd --topology 1x5                   # why some requests are slow",
        "config.ru --request /articles --with ruby-prof   # one request, every call counted",
        "--block query.rb --with ruby-prof --iterations 1",
        "--install ruby-prof"
      ]

      def call(output: nil, html: nil, **options)
        return ProfilerList.new(out).print if options[:list]
        return install(options[:install]) if options[:install]
        output = Results.path(output, "profile.json", err:, **options)
        Output.check_writable(output, html)
        costs, broken = ProfilePlan.new(options, output:, err:).call
        Output.keep(costs, output, out:, err:, html:)
        raise MeasurementFailed, "what was taken until then is kept in #{output}. #{broken}" if broken
      end

      private

      def install(name)
        profilers = (name == "all") ? PumaTuner::Probe::Profilers.all : [PumaTuner::Probe::Profilers.find(name)]
        profilers.each do |profiler|
          next unless profiler::GEM
          Progress.new(err).stage("installing #{profiler::GEM}", nil) { PumaTuner::Profile::Library.install(profiler::NAME) }
        end
      end
    end
  end
end
