# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # The programs and sources that this lab needs and that are no gems: Debian packages, told from what they bring.
      module Packages
        # package => a file of it, or a program
        NEEDED = {
          "golang-go" => "go", "golang-github-go-sql-driver-mysql-dev" => "/usr/share/gocode/src/github.com/go-sql-driver/mysql/driver.go",
          "mariadb-server-core" => "mariadbd", "mariadb-client-core" => "mariadb", "libmariadb-dev" => "mariadb_config", "apache2-utils" => "ab"
        }.freeze

        FOLDERS = [*ENV.fetch("PATH", "").split(":"), "/usr/sbin", "/usr/local/sbin"].uniq.freeze

        module_function

        # @param names [Array<String>] packages
        # @param needed [Hash{String => String}] see NEEDED
        # @return [Array<String>] of them, those that are not here
        def missing(names = NEEDED.keys, needed: NEEDED) = names.reject { |name| path_of(needed.fetch(name)) }

        # @param program [String] a name, or the path of a file
        # @return [String, nil] its path
        def path_of(program)
          return (program if File.file?(program)) if program.start_with?("/")
          FOLDERS.map { |folder| File.join(folder, program) }.find { |path| File.file?(path) && File.executable?(path) }
        end

        # @raise [UsageError] that names what to install
        def ensure_installed(names = NEEDED.keys, needed: NEEDED)
          missing = missing(names, needed:)
          return if missing.empty?
          raise UsageError, "the lab myth_busters needs Debian packages that are not installed. Run: sudo apt-get install --no-install-recommends #{missing.join(" ")}"
        end
      end
    end
  end
end
