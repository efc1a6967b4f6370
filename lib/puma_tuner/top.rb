# frozen_string_literal: true

module PumaTuner
  # A running server, looked at again and again: what its requests spend their time on now, who is in their way, and
  # what a thread or a worker more would do.
  #
  # server finds one, reading looks at it, status makes of two looks what is told (diagnosis: in a sentence), and
  # outlook has a process beside forecast it. screen draws a status, view turns keys into what is drawn, terminal is
  # where; lines is for where there is none, and web is the same as a page, for which
  # lane_recorder records threads over time; slow_profile looks into slow requests. session runs it all.
  module Top
    PumaTuner.autoload_folder(self, "#{__dir__}/top", outlook: %i[Forecaster Forecasts Outlook OutlookSetting],
      reading: %i[LedgerReader PackedHistogram Reader Reading ServerProcess Totals],
      server: %i[Processes Server Servers],
      status: %i[Cost EndpointStatus Status ThreadStatus WorkerStatus])

    # @param topology [Topology] today's
    # @return [Array<Topology>] today's, and those with a thread or a worker less and more
    def self.neighbours(topology)
      steps = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]]
      counts = steps.map { |step| step.zip([topology.workers_count, topology.threads_count]).map(&:sum) }
      counts.reject { |pair| pair.include?(0) }.map { |pair| Topology.from(*pair) }
    end
  end
end
