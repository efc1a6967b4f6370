# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require_relative "packages"

module PumaTuner
  module Labs
    class MythBusters
      # go/main.go as a program: built by set-up, from Debian's packages alone, and kept until the source changes.
      module GoServer
        FOLDER = File.join(__dir__, "go")
        LIMIT_S = 300

        # GOPATH mode: Debian's sources are no modules, and nothing is looked for elsewhere.
        ENVIRONMENT = {"GO111MODULE" => "off", "GOPATH" => "/usr/share/gocode", "GOFLAGS" => "", "GOPROXY" => "off", "CGO_ENABLED" => "0"}.freeze

        # When versions came out (https://go.dev/doc/devel/release): theirs was of 2024.
        YEARS = {"go1.19" => 2022, "go1.20" => 2023, "go1.21" => 2023, "go1.22" => 2024, "go1.23" => 2024, "go1.24" => 2025, "go1.25" => 2025}.freeze

        module_function

        # @return [String] path of the program
        def path = File.join(Lab::Gems.root, "myth_busters", "server-#{Digest::SHA256.file(File.join(FOLDER, "main.go")).hexdigest[0, 12]}")

        # @return [Boolean]
        def built? = File.executable?(path)

        # @param say [#call] told what takes long
        # @raise [UsageError] when it can't be built
        def build(say: ->(_) {})
          return if built?
          Packages.ensure_installed(%w[golang-go golang-github-go-sql-driver-mysql-dev])
          say.call("building the server in Go")
          FileUtils.mkdir_p(File.dirname(path))
          partial = "#{path}.#{Process.pid}"
          output, status = Open3.capture2e({**Lab::Commands.clean_environment, **ENVIRONMENT, "GOCACHE" => File.join(Lab::Gems.cache, "go")},
            "timeout", LIMIT_S.to_s, Packages.path_of("go"), "build", "-o", partial, ".", chdir: FOLDER, unsetenv_others: true)
          raise UsageError, "the server in Go can't be built:\n#{output.lines.last(10).map { |line| "  | #{line}" }.join}" unless status.success?
          File.rename(partial, path)
        end

        # @return [String] "go1.19.8"
        # @raise [UsageError] when it was never built
        def version
          raise UsageError, "the server in Go is not built. Run: puma_tuner lab setup myth_busters" unless built?
          output, = Open3.capture2e("go", "version", path)
          output[/: (go\S+)/, 1] || "Go"
        rescue SystemCallError
          "Go"
        end
      end
    end
  end
end
