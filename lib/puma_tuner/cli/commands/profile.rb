# frozen_string_literal: true

module PumaTuner
  module CLI
    # Tells which methods an app's time, calls or objects go to, by any profiler.
    class Commands::Profile < Command
      desc "Show which methods time, calls and objects go to: in a server under load, in single requests, " \
        "or in a block of Ruby", hint: Options::App::HINT
      tells_of_an_app
      argument :app, Options::App::ABOUT, required: false, many: true
      options :verbose, :path, :requests, :rate, :with, :directory, :boot_limit, :topology, :block, :data, :arrivals,
        :seed, :mode, :interval, :outliers, :request, :times, :token, :name, :iterations, :read, :whole, :list,
        :install, :html, connections: Options::Traffic::USUAL_CONNECTIONS, duration: "10", load: true,
        warmup: {default: "3", limits: 0..3_600},
        output: {
          usual: "profile.json in the app's tmp/puma_tuner; the profiler's own files go into a folder beside it"
        },
        url: {about: "address of a server that runs already, with PumaTuner::ProfilerMiddleware in it; needs --token"}
      example [
        "--path /articles                                 # a server under load",
        "--with rperf --mode wall -- bundle exec puma     # whatever a command serves; waits, too",
        "config.ru --outliers --topology 1x5              # why some requests are slow",
        "config.ru --request /articles --with ruby-prof   # one request, every call counted",
        "--block query.rb --with ruby-prof --iterations 1",
        "--install ruby-prof"
      ]

      def call(output:, html:, **options)
        return list if options[:list]
        return install(options[:install]) if options[:install]
        output = Results.path(output, "profile.json", err:, **options)
        Output.check_writable(output, html)
        costs, broken = ProfilePlan.new(options, output: Results.beside(output, "profile.json", err:, **options),
          progress:, err:).call
        Output.write(costs, **telling, path: output, html:)
        raise MeasurementFailed, "the profile taken until then is in #{output}. #{broken}" if broken
      end

      private

      # The profilers, for people who choose one.
      def list
        Profile.profilers.each do |profiler|
          out.puts("#{profiler::NAME} (#{state(profiler)})",
            *profiler::MODES.map { |mode, meaning| format("  %-10s %s", mode, meaning) }, "")
        end
        out.puts("docs/reference/profilers.md says what each is good for, and what it costs.")
      end

      def state(profiler)
        return profiler.new.why_not || "installed" unless profiler::GEM
        return "installed" if Profile::Library.installed?(profiler)
        "not installed: puma_tuner profile --install #{profiler::NAME}"
      end

      def install(name)
        profilers = (name == "all") ? Profile.profilers : [Profile.profiler(name)]
        profilers.each do |profiler|
          next unless profiler::GEM
          progress.stage("installing #{profiler::GEM}", nil) { Profile::Library.install(profiler::NAME) }
        end
      end
    end
  end
end
