# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the collector is measured in: factors by name. All answer the same requests alike, with the same version of json and
    # with YJIT, unless the name says otherwise.
    module CspRungs
      SHOP = File.join(Lab::Gems.cache, "apps/solidus")

      MONOLITH = "shop"
      RAILS = "new Rails app"
      THIN = "thin Rails app"
      RACK = "bare Rack"
      BEST = "own loop"
      WHOLE = "collector in full"

      # Rails' log of each request is made, and thrown away by the kernel.
      COMMON = {"env.CSP_LOG" => File::NULL, "yjit" => "on", "env.RACK_ENV" => "production", "env.RAILS_ENV" => "production"}.freeze

      def self.on_puma(app, topology, gemfile: "rungs/#{app[/\w+/]}/Gemfile", **more)
        {**COMMON, "app" => "rungs/#{app}", "gemfile" => gemfile, "topology" => topology, **more.transform_keys(&:to_s)}
      end

      def self.by_command(command, app, gemfile) = {**COMMON, "command" => command, "app" => "rungs/#{app}", "gemfile" => "rungs/#{gemfile}/Gemfile"}

      def self.on_server(command) = by_command(command, "rack/config.ru", "servers")

      # The story's rungs, with its numbers of threads.
      LADDER = {
        MONOLITH => on_puma("monolith/config.ru", "1x1", gemfile: File.join(SHOP, "Gemfile"), "env.CSP_SHOP": SHOP),
        RAILS => on_puma("rails/config.ru", "1x3"),
        THIN => on_puma("rails/thin.ru", "1x2"),
        RACK => on_puma("rack/config.ru", "1x2")
      }.freeze

      BARE = LADDER.fetch(RACK)
      LOOP = by_command("ruby rungs/loop/collector.rb {port}", "loop/collector.rb", "loop").freeze

      # The application that one would use, with limits, a log of what it refuses, and 503 when it is overloaded.
      FULL_APP = {**BARE, "app" => "collector/config.ru", "config" => "collector/puma.rb", "topology" => "1x3"}.freeze

      # The published step from a new Rails app to a thin one changed the stack, two railties and the number of threads at once, and
      # removed 17 middlewares: as many as Rails has in development. Here each is changed by itself, in either settings.
      DEVELOPMENT = {"env.RACK_ENV" => "development", "env.RAILS_ENV" => "development"}.freeze
      STACK = on_puma("rails/stack.ru", "1x3").freeze
      NO_STACK = {"env.CSP_WITHOUT" => "all"}.freeze
      TWO_THREADS = "two threads"
      NO_MIDDLEWARES = "no middlewares"
      IN_DEVELOPMENT = "development"
      NO_MIDDLEWARES_IN_DEVELOPMENT = "development, no middlewares"
      STEP = {
        RAILS => STACK,
        TWO_THREADS => {**STACK, "topology" => "1x2"},
        NO_MIDDLEWARES => {**STACK, **NO_STACK},
        "#{NO_MIDDLEWARES}, #{TWO_THREADS}" => {**STACK, **NO_STACK, "topology" => "1x2"},
        IN_DEVELOPMENT => {**STACK, **DEVELOPMENT},
        NO_MIDDLEWARES_IN_DEVELOPMENT => {**STACK, **DEVELOPMENT, **NO_STACK},
        "#{NO_MIDDLEWARES_IN_DEVELOPMENT}, #{TWO_THREADS}" => {**STACK, **DEVELOPMENT, **NO_STACK, "topology" => "1x2"}
      }.freeze

      # In the order of the stack.
      IN_PRODUCTION = %w[Rack::Sendfile ActionDispatch::Static ActionDispatch::Executor Rack::Runtime ActionDispatch::RequestId ActionDispatch::RemoteIp
        Rails::Rack::Logger ActionDispatch::ShowExceptions ActionDispatch::DebugExceptions ActionDispatch::Callbacks Rack::Head Rack::ConditionalGet Rack::ETag].freeze
      ONLY_IN_DEVELOPMENT = %w[ActionDispatch::HostAuthorization ActionDispatch::ServerTiming ActionDispatch::ActionableExceptions ActionDispatch::Reloader].freeze

      # @return [Hash{String => Hash}] the whole stack, and without each of these
      def self.without_each(names, first, factors) = {first => factors, **names.to_h { |name| ["without #{name}", {**factors, "env.CSP_WITHOUT" => name}] }}

      EACH_MIDDLEWARE = without_each(IN_PRODUCTION, RAILS, STACK).freeze
      EACH_OF_DEVELOPMENT = without_each(ONLY_IN_DEVELOPMENT, IN_DEVELOPMENT, STEP.fetch(IN_DEVELOPMENT)).freeze

      # The shop as it was published: on Pitchfork, which is put beside the shop's own gems. One process each, one request at a time.
      PITCHFORK_VERSION = "0.18.2"
      ON_PITCHFORK = "shop on Pitchfork"
      PITCHFORK = File.join(Lab::Gems.folder(RUBY_VERSION), "gems/pitchfork-#{PITCHFORK_VERSION}")
      # Its master and its mold are no workers: all of them count.
      SHOP_SERVERS = {
        MONOLITH => LADDER.fetch(MONOLITH),
        ON_PITCHFORK => {**LADDER.fetch(MONOLITH).except("topology"),
          "command" => "ruby -I #{PITCHFORK}/lib #{PITCHFORK}/exe/pitchfork -E production -l 127.0.0.1:{port} rungs/monolith/config.ru"}
      }.freeze

      # The published first figure is of 2,914 error pages. What they were is not told: a page that is not found, and one that failed,
      # in production and in development, where a page tells what went wrong. The database is production's in both.
      FAILING = {"404" => "404", "500" => "500"}.flat_map { |name, status|
        shop = {**LADDER.fetch(MONOLITH), "env.CSP_FAILS" => status}
        [["shop's #{name}", shop], ["shop's #{name} in development", {**shop, **DEVELOPMENT, "env.DATABASE_URL" => "sqlite3:#{SHOP}/storage/production.sqlite3"}]]
      }.to_h.freeze
      ERROR_PAGES = {MONOLITH => LADDER.fetch(MONOLITH), **FAILING, RACK => BARE}.freeze

      # The first of each is the baseline, against which the others are held.
      JSON_VERSIONS = {"json 2.8.1" => "2.8.1", "json 2.7.2" => "2.7.2"}.transform_values { |version| {**BARE, "gem.json" => version} }.freeze

      # Room for the objects of some thousand requests between two collections.
      GC_SETTINGS = {"env.RUBY_GC_HEAP_0_INIT_SLOTS" => "400000", "env.RUBY_GC_HEAP_1_INIT_SLOTS" => "200000",
                     "env.RUBY_GC_MALLOC_LIMIT" => "134217728", "env.RUBY_GC_MALLOC_LIMIT_MAX" => "268435456"}.freeze

      SETTINGS = {
        RACK => BARE,
        WHOLE => FULL_APP,
        "YJIT off" => {**BARE, "yjit" => "off"},
        "YJIT from the 5th call" => {**BARE, "rubyopt" => "--yjit-call-threshold=5"},
        "fewer collections" => {**BARE, **GC_SETTINGS},
        "one thread" => {**BARE, "topology" => "1x1"},
        "two workers of one thread" => {**BARE, "topology" => "2x1"}
      }.freeze

      # @param advised [Topology, nil] by the predictor
      # @return [Hash{String => Hash}] with a variant of it, unless it is among them
      def self.settings(advised)
        factors = advised && {**BARE, "topology" => advised.to_s}
        (factors && !SETTINGS.value?(factors)) ? {**SETTINGS, advised_name(advised) => factors} : SETTINGS
      end

      # @return [String] of the variant that is set so
      def self.advised_name(topology) = SETTINGS.key({**BARE, "topology" => topology.to_s}) || "as advised: #{topology}"

      # The bare Rack rung under other servers. Iodine's and Itsi's processes are busy outside of Ruby, and do not answer our questions.
      SILENT = "env -u PUMA_TUNER_METER"
      # Itsi leaves a file where it runs.
      IN_RUN_FOLDER = 'cd "$PUMA_TUNER_DIRECTORY" && exec'
      # Iodine's greeting would else come with the first line.
      AT_ONCE = '$stdout.sync = true; load Gem.bin_path("iodine", "iodine")'
      SERVERS = {
        "Puma" => by_command("puma --silent -t 2:2 -b tcp://127.0.0.1:{port} rungs/rack/config.ru", "rack/config.ru", "rack"),
        "Pitchfork" => on_server("pitchfork -E production -l 127.0.0.1:{port} rungs/rack/config.ru"),
        "Falcon" => on_server("falcon serve -b http://127.0.0.1:{port} -n 1 -c rungs/rack/config.ru"),
        "Itsi" => on_server("#{SILENT} ITSI_LOG=error sh -c '#{IN_RUN_FOLDER} itsi serve -b http://127.0.0.1:{port} -w 1 -t 1 --rackup_file #{__dir__}/rungs/rack/config.ru'"),
        "Iodine" => on_server("#{SILENT} ruby -e '#{AT_ONCE}' -- -p {port} -b 127.0.0.1 -t 1 -w 1 rungs/rack/config.ru")
      }.freeze
    end
  end
end
