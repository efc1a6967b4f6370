# frozen_string_literal: true

require "fileutils"

module PumaTuner
  module Top
    # What the slow requests of one endpoint spend CPU time on, from outside and for five seconds: the kernel's profiler
    # samples all threads, and lanes tell which request each of them served then. Of Ruby's methods it sees those that
    # YJIT has named (`ruby --yjit --yjit-perf`), and otherwise functions of the interpreter.
    class SlowProfile
      DURATION_S = 5

      # Of each core: five seconds of slow requests are few.
      FREQUENCY_HZ = 499

      # The kernel keeps so much of a thread's name.
      NAME_LENGTH = 15

      # @param server [Server]
      # @param perf [Profile::Perf]
      def initialize(server, perf: Profile::Perf.new)
        @server = server
        @perf = perf
        @processes = Processes.new(server.pid)
      end

      # @param endpoint [String]
      # @param path [String] of the profile that is written; perf's own file goes beside it
      # @return [Statement] :profile (endpoint, path, slow_count, requests_count), or why there is none
      def call(endpoint, path)
        return Statement.of(:recorded_by_command) if @server.ours
        return Statement.of(:no_profile, detail: @perf.why_not) if @perf.why_not
        native = path.sub(/(\.json)?\z/, Profile::Perf::EXTENSION)
        FileUtils.mkdir_p(File.dirname(path))
        requests = record(native).select { |request| request.endpoint == endpoint }
        outliers = Profile::Outliers.new([requests])
        return none_slow(endpoint, requests.size) if outliers.count.zero?
        costs = costs(endpoint, native, requests, outliers) or return no_sample(outliers.count)
        Document.write(costs, path)
        Statement.of(:profile, endpoint:, path:, slow_count: outliers.count, requests_count: requests.size)
      rescue Error, SystemCallError => error
        Statement.of(:no_profile, detail: error.message)
      end

      private

      def none_slow(endpoint, requests_count)
        Statement.of(:none_slow, endpoint:, requests_count:, duration_s: DURATION_S,
          least_count: Profile::Outliers::REQUESTS_MIN)
      end

      def no_sample(slow_count) = Statement.of(:no_sample, slow_count:)

      # @return [Array<Profile::Outliers::Logged>] requests that ended meanwhile
      def record(native)
        ledgers = @server.ledgers
        paths = ledgers.paths.select { |path| path.end_with?(".ledger") && !ledgers.ended?(path) }
        paths.each { |path| Probe::LaneReader.order(path, DURATION_S * Units::NS_PER_S) }
        pids = paths.filter_map { |path| @processes.pid_of(File.basename(path).to_i) }
        raise MeasurementFailed, "no process of the server is recorded by the probe's extension" if pids.empty?
        @perf.record(pids:, path: native, duration_s: DURATION_S, frequency: FREQUENCY_HZ)
        sleep(Probe::LaneReader.of(paths).map(&:left_ns).max.to_i.fdiv(Units::NS_PER_S)) # until all of it is there
        readers = Probe::LaneReader.of(paths)
        first_ns = readers.map(&:began_at_ns).min
        readers.map { |reader| reader.lanes(first_ns) }.flat_map { |process| requests_of(process, first_ns) }
      end

      def requests_of(process, first_ns)
        threads = threads(@processes.pid_of(process.pid))
        process.lanes.select(&:serves_requests).flat_map do |lane|
          waits, collections = %w[gvl_wait gc].map { |kind| lane.each_step.select { |one, _, _| one == kind } }
          lane.works.each_slice(3).map do |place, from_ns, ns|
            began_ns = first_ns + process.from_ns + from_ns
            Profile::Outliers::Logged.new(thread: threads[lane.name], began_ns:, ended_ns: began_ns + ns, wall_ns: ns,
              gvl_wait_ns: within(waits, from_ns, ns), gc_ns: within(collections, from_ns, ns),
              endpoint: process.works[place])
          end
        end
      end

      # @return [Hash{String => Integer}] the kernel's number of each thread, by name
      def threads(pid)
        known = Dir["/proc/#{pid}/task/*/comm"].to_h do |path|
          [Probe::Processes.read(path).chomp, path[%r{task/(\d+)}, 1].to_i]
        end
        Hash.new { |_, name| known[name.to_s[0, NAME_LENGTH]] }
      end

      # @param steps [Array<Array>] kind, begin and length, in their order
      # @return [Integer] nanoseconds of them in that span
      def within(steps, from_ns, ns)
        first = steps.bsearch_index { |_, at_ns, length_ns| at_ns + length_ns > from_ns } or return 0
        steps.drop(first).take_while { |_, at_ns, _| at_ns < from_ns + ns }.sum do |_, at_ns, length_ns|
          [at_ns + length_ns, from_ns + ns].min - [at_ns, from_ns].max
        end
      end

      # @return [Profile::Costs, nil] nil without a sample
      def costs(endpoint, native, requests, outliers)
        samples = outliers.inside(Profile::Perf.read(native), requests)
        return if samples.stacks.empty?
        target = "the #{outliers.count} slow ones of #{requests.size} requests of #{endpoint}, of the server #{@server}"
        Profile::Reading.new(profiler: Profile::Perf, mode: Profile::Perf.default_mode, target:,
          command: Host::Masking.own_command)
          .call([native], duration_ns: DURATION_S * Units::NS_PER_S, work_count: outliers.count,
            work_noun: "slow request") { samples }
      end
    end
  end
end
