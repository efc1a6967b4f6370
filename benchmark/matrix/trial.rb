# frozen_string_literal: true

require "tmpdir"

module Matrix
  # What came of a cell. failures: what was not as promised, in words, empty when all was; versions: {gem => version} that it ran with; seconds: that it took
  # explained_ratio: of the requests' wall time, what the parts of their budgets say; cpu_ratio: their CPU over what the kernel counts of the server's
  #   processes, by other clocks; both nil where nothing was measured
  Found = Data.define(:cell, :failures, :versions, :seconds, :explained_ratio, :cpu_ratio, :requests_count) do
    def initialize(explained_ratio: nil, cpu_ratio: nil, requests_count: nil, **fields) = super

    # @return [Boolean]
    def fine? = failures.empty?
  end

  # One cell: its app is served under load with the probe, measured, forecast and advised, by the command as a user has it.
  class Trial
    # This share of the wall time must be in the parts.
    EXPLAINED_RATIO = 0.99

    # The rest is Puma's own, and what the probe does between requests: 30% at most, of what was tried so far. More than
    # all of it can't be, but for ticks.
    CPU_RATIO = 0.5..1.03

    LEAST_REQUESTS = 100
    LIMIT_S = 180

    # The command shows what its server says only where that fails, so it goes to a file.
    LOG = "server.log"
    SERVER = ["sh", "-c", "exec bundle exec puma config.ru >>#{LOG} 2>&1"].freeze

    # Of the server's output, what the probe says there, and crashes; of the command's, where it ends well, crashes of what
    # it starts, bugs of ours, and that something of the server is left.
    COMPLAINT = /puma_tuner:|\[BUG\]|Segmentation/
    OF_COMMAND = /please report|\[BUG\]|could not be stopped/

    WORDS = %w[--duration 3 --warmup 0.5 --rounds 0 --no-calibrate --settings none --threads 1..3 --workers 1..2 --connections 6 --output=tuning.json].freeze

    # @param cell [Cell]
    # @param place [RubyPlace]
    def initialize(cell, place)
      @cell = cell
      @place = place
      @app = Apps::ALL.fetch(cell.framework)
    end

    # @return [Found]
    def call
      began_s = PumaTuner::Clock.now_s
      found = Dir.mktmpdir("puma_tuner-matrix") { |folder| tried(File.realpath(folder)) }
      Found.new(cell: @cell, seconds: PumaTuner::Clock.now_s - began_s, **found)
    end

    private

    def tried(folder)
      File.write(File.join(folder, "Gemfile"), gemfile)
      File.write(File.join(folder, "config.ru"), Apps::WORK + @app.rackup)
      @place.bundle(folder)
      versions = @place.gems(folder)
      printed, code = @place.puma_tuner("tune", "--today", Cells::SERVERS.fetch(@cell.server), "--path", Apps::PATHS.join(","), *WORDS, "--", *SERVER, folder:, limit_s: LIMIT_S)
      left = Matrix.processes_in(folder)
      left.each { |pid| Process.kill(:KILL, pid) }
      {versions:, **judged(folder, printed, code, left)}
    rescue PumaTuner::MeasurementFailed => error
      {versions: {}, failures: [error.message]}
    end

    def gemfile
      gems = {"puma" => "~> #{@cell.puma}.0", "rack" => "~> #{@cell.rack}.0", **@app.gems}
      ["source Gem.sources.to_a.first", *gems.map { |name, version| "gem #{name.dump}, #{version.dump}" }, ""].join("\n")
    end

    def judged(folder, printed, code, left)
      path, log = ["tuning.json", LOG].map { |name| File.join(folder, name) }
      logged = File.file?(log) ? File.read(log, encoding: Encoding::UTF_8).scrub.lines : []
      unless code&.zero? && File.file?(path)
        said = [*printed.lines.grep(/puma_tuner:|\|/).last(6), *logged.last(6)].map(&:strip)
        return {failures: ["`tune` #{code ? "ended with #{code}" : "did not end within #{LIMIT_S} s"}: #{said.join(" / ")}"]}
      end
      tuning = PumaTuner::Document.read(path, :tuning)
      observation = tuning.observation
      {failures: [*of_recording(observation), *of_forecast(tuning), *of_end(printed, logged, left)],
       explained_ratio: explained(observation.budget), cpu_ratio: cpu(observation), requests_count: observation.requests_count}
    end

    def of_recording(observation)
      wanted = ["GET /", "GET #{@app.article}"]
      names = observation.endpoints.map(&:name).sort
      [("its endpoints are called #{names.join(", ")}, and are #{wanted.join(", ")}" if names != wanted),
        ("#{observation.requests_count} requests were recorded" if observation.requests_count < LEAST_REQUESTS),
        ("it served as #{observation.topology}" if observation.topology.to_s != Cells::SERVERS.fetch(@cell.server)),
        ("#{(explained(observation.budget) * 100).round(2)}% of the wall time is in its parts" if explained(observation.budget) < EXPLAINED_RATIO),
        ("its requests' CPU is #{(cpu(observation) * 100).round}% of what the kernel counts" unless CPU_RATIO.cover?(cpu(observation))),
        ("#{observation.endpoints.sum(&:unaccounted_count)} requests have parts that exceed their wall time" if observation.endpoints.sum(&:unaccounted_count) > observation.requests_count / 100)].compact
    end

    def explained(budget) = 1 - budget.residual_ns.abs.fdiv(budget.wall_ns)

    # Of a cluster's master, which serves nothing, nothing is counted.
    def cpu(observation) = observation.requests_cpu_ns.fdiv(observation.processes.filter_map(&:cpu_ns).sum)

    def of_forecast(tuning)
      counts = [tuning.sweep&.forecasts.to_a.size, tuning.advice_list&.advice.to_a.size]
      [("no setting was forecast" if counts.first.zero?), ("there is no advice" if counts.last.zero?)].compact
    end

    def of_end(printed, logged, left)
      complaint = logged.grep(COMPLAINT).first || printed.lines.grep(OF_COMMAND).first
      [("nothing of its server's output was kept" if logged.empty?), ("it complained: #{complaint.strip}" if complaint),
        ("#{left.size} processes were left running" if left.any?)].compact
    end
  end

  # @param folder [String]
  # @return [Array<Integer>] processes whose working folder it is
  def self.processes_in(folder)
    Dir["/proc/[0-9]*/cwd"].filter_map do |link|
      link[/\d+/].to_i if File.readlink(link) == folder
    rescue SystemCallError
      nil # it has ended
    end
  end
end
