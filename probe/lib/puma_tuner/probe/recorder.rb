# frozen_string_literal: true

module PumaTuner
  module Probe
    # Puts the requests and jobs of this process into its ledger. What goes wrong here must not reach the app.
    class Recorder
      # @param endpoint [Endpoint]
      def initialize(endpoint)
        @endpoint = endpoint
        # The endpoint gives the same String for the same name.
        @entries = Hash.new { |entries, name| entries[name] = new_entry(:request, name) }.compare_by_identity
        @jobs = Hash.new { |jobs, name| jobs[name] = new_entry(:job, name) }
      end

      # @param client [::Puma::Client] that this thread is about to serve
      # @return [Boolean] false when this thread serves a request already
      def begin(client)
        return false unless GvlClock.request_begin(client.puma_tuner_queued_ns)
        RequestStart.stamp(client)
        true
      rescue StandardError, ScriptError => error
        Probe.fault("a request could not be recorded", error)
        true
      end

      # Closes the request that this thread serves, whatever happens: where one stays open, as when somebody raises in
      # the thread just now, none of the thread's later ones would count.
      #
      # @param client [::Puma::Client]
      def finish(client)
        env = client.env
        queued_ns = client.puma_tuner_queued_ns
        before_puma_ns = client.puma_tuner_before_puma_ns
        client.puma_tuner_queued_ns = nil if queued_ns
        client.puma_tuner_before_puma_ns = nil if before_puma_ns
        return unless env.key?(Puma::APP_WAS_CALLED)
        ended = GvlClock.request_end(@entries[@endpoint.name(env)], queued_ns, before_puma_ns)
      rescue StandardError, ScriptError => error
        Probe.fault("a request could not be recorded", error)
      ensure
        GvlClock.discard unless ended
      end

      # @param name [String]
      # @return what the block returns
      def job(name)
        return yield unless GvlClock.job_begin
        begin
          yield
        ensure
          finish_job(name)
        end
      end

      # A request of nobody's, to time what recording costs.
      REHEARSAL = {"REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "SCRIPT_NAME" => "",
                   Puma::APP_WAS_CALLED => true}.freeze
      private_constant :REHEARSAL

      # @api private
      def rehearse(entry)
        GvlClock.job_begin
        REHEARSAL.key?(Puma::APP_WAS_CALLED) && @endpoint.name(REHEARSAL)
        GvlClock.request_end(entry, nil, nil)
      end

      private

      def finish_job(name)
        ended = GvlClock.request_end(@jobs[@endpoint.job_name(name)], nil, nil)
      rescue StandardError, ScriptError => error
        Probe.fault("a job could not be recorded", error)
      ensure
        GvlClock.discard unless ended
      end

      # The first of its kind may have loaded libraries that were not there before.
      def new_entry(kind, name)
        BlockingRegions.look_for_libraries
        ActiveRecordQueries.look(self)
        GvlClock.entry(Ledger::KIND_NUMBERS[kind], name)
      end
    end
  end
end
