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
    autoload :Cost, "puma_tuner/top/status"
    autoload :Diagnosis, "puma_tuner/top/diagnosis"
    autoload :EndpointStatus, "puma_tuner/top/status"
    autoload :Forecaster, "puma_tuner/top/outlook"
    autoload :Forecasts, "puma_tuner/top/outlook"
    autoload :LaneRecorder, "puma_tuner/top/lane_recorder"
    autoload :LedgerReader, "puma_tuner/top/reading"
    autoload :Lines, "puma_tuner/top/lines"
    autoload :Outlook, "puma_tuner/top/outlook"
    autoload :OutlookSetting, "puma_tuner/top/outlook"
    autoload :PackedHistogram, "puma_tuner/top/reading"
    autoload :Processes, "puma_tuner/top/server"
    autoload :Reader, "puma_tuner/top/reading"
    autoload :Reading, "puma_tuner/top/reading"
    autoload :Screen, "puma_tuner/top/screen"
    autoload :Server, "puma_tuner/top/server"
    autoload :ServerProcess, "puma_tuner/top/reading"
    autoload :Servers, "puma_tuner/top/server"
    autoload :Session, "puma_tuner/top/session"
    autoload :SlowProfile, "puma_tuner/top/slow_profile"
    autoload :Status, "puma_tuner/top/status"
    autoload :Terminal, "puma_tuner/top/terminal"
    autoload :ThreadStatus, "puma_tuner/top/status"
    autoload :Totals, "puma_tuner/top/reading"
    autoload :View, "puma_tuner/top/view"
    autoload :Web, "puma_tuner/top/web"
    autoload :WebEvent, "puma_tuner/top/web_event"
    autoload :WorkerStatus, "puma_tuner/top/status"

    # @param topology [Topology] today's
    # @return [Array<Topology>] today's, and those with a thread or a worker less and more
    def self.neighbours(topology)
      steps = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]]
      counts = steps.map { |step| step.zip([topology.workers_count, topology.threads_count]).map(&:sum) }
      counts.reject { |pair| pair.include?(0) }.map { |pair| Topology.from(*pair) }
    end
  end
end
