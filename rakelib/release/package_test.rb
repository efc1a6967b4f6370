# frozen_string_literal: true

require_relative "../release"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/matrix/cells"

# The built packages, tried with each Ruby of the matrix, and the part of docs/compatibility.md that tells of it.
module PackageTest
  PAGE = File.expand_path("../../docs/compatibility.md", __dir__)
  BEGINS = "<!-- packages: written by rake package_test -->"
  ENDS = "<!-- end of packages -->"
  PART = /#{Regexp.escape(BEGINS)}.*#{Regexp.escape(ENDS)}\n/m

  # The part stands before it.
  FOLLOWING = /^(?=## Rubies$)/

  class << self
    # @param release [Release]
    # @param build [#call] builds its packages
    # @param rubies [Array<String>] versions that have to be here
    # @param write [Boolean]
    # @raise [Release::Failed] where a Ruby is missing, or has nothing to be tried with: what was not tried with all
    #   of them is no success
    def run(release, build:, rubies: Matrix::Cells::RUBIES, write: false)
      missing = release.class.missing(rubies)
      raise Release::Failed, "package_test tries the gems with Ruby #{rubies.join(" and ")}; provide #{missing.join(" and ")}: bin/setup #{missing.map { |version| "--ruby #{version}" }.join(" ")}" if missing.any?
      machine = PumaTuner::Probe::MachineFacts.read
      build.call
      lines = []
      release.try_everywhere { |line| puts lines.push(line).last }
      untried = rubies.reject { |version| lines.any? { |line| line.start_with?("Ruby #{version},") } }
      if untried.any? || lines.empty?
        raise Release::Failed, "no installation was tried#{" with Ruby #{untried.join(" and ")}" if untried.any?}"
      end
      puts "package_test: #{fine(lines)}"
      File.write(PAGE, page(File.read(PAGE), lines, Bench::Provenance.line(machine, commit: release.commit_words))) if write
    end

    # @param lines [Array<String>] what was tried
    def fine(lines) = "#{lines.size} #{lines.one? ? "installation is" : "installations are"} fine"

    # @param before [String] the page as it is
    # @param lines [Array<String>] what was tried
    # @param made [String] with what
    # @return [String] the page with that in it
    def page(before, lines, made)
      part = [BEGINS, "", "To repeat it: `bin/exec rake package_test WRITE=1`.", "", made, "", "**#{fine(lines)}.**", "",
        *lines.map { |line| "- #{line}" }, "", ENDS, ""].join("\n")
      before.match?(PART) ? before.sub(PART) { part } : before.sub(FOLLOWING) { "#{part}\n" }
    end
  end
end
