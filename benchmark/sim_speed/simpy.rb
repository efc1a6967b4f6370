# frozen_string_literal: true

require "json"

module SimSpeed
  # SimPy, the simulator that most models of queues are written in; Debian's, with Debian's Python.
  class Simpy
    SCRIPT = File.expand_path("simpy_mmc.py", __dir__)

    # Debian's python3-simpy is SimPy 2, of another time; the one that everybody means is packaged beside it.
    PACKAGE = "python3-simpy3"

    # Debian's own Python first: another one on PATH does not see Debian's packages.
    PYTHONS = ["/usr/bin/python3", "python3"].freeze
    LIMIT_S = 300

    # @return [String, nil] why it can't be asked, as a clause
    attr_reader :why_not

    # @param install [Boolean] whether to install what is missing, where that is possible
    def initialize(install: true)
      @python = found || (self.install if install)
      @why_not = "SimPy is not there: sudo apt-get install #{PACKAGE}" unless @python
    end

    # @param queue [Models::Queue]
    # @param requests_count [Integer]
    # @return [Run]
    def call(queue, requests_count:, seed:)
      words = [requests_count, queue.servers_count, queue.rate_per_s, queue.mean_service_s, seed].map(&:to_s)
      output, status = PumaTuner::Load::Child.output_of([@python, SCRIPT, *words], limit_s: LIMIT_S)
      raise PumaTuner::UserMistake, "SimPy failed: #{output.to_s.lines.last}" unless status&.success?
      fields = JSON.parse(output.lines.last, symbolize_names: true)
      @version = fields.fetch(:version)
      Run.new(**fields.slice(*Run.members))
    end

    # @return [String, nil] name and version, once it has run
    attr_reader :version

    private

    def found
      PYTHONS.find { |python| system(python, "-c", "import simpy; simpy.Environment", out: File::NULL, err: File::NULL) }
    end

    # As bin/setup does: for root, on Debian.
    def install
      return unless Process.uid.zero? && system("command -v apt-get", out: File::NULL, err: File::NULL)
      warn "installing #{PACKAGE}"
      system({"DEBIAN_FRONTEND" => "noninteractive"}, "apt-get", "install", "-y", "-q", "--no-install-recommends", PACKAGE, out: File::NULL, err: File::NULL) && found
    end
  end
end
