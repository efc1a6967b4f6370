# frozen_string_literal: true

module PumaTuner
  module Probe
    # Counts the queries of each endpoint's requests by what Active Record calls them ("Comment Load"), in servers that
    # the command starts. Rails tells of each query anyway, so one more who listens costs a look into two hashes;
    # without Active Support nothing listens. What was answered from Rails' own cache, and what is no query of the
    # app's, does not count.
    module ActiveRecordQueries
      EVENT = "sql.active_record"
      OTHERS = ["SCHEMA", "TRANSACTION"].freeze

      # Names are the app's own, and few; beyond that an endpoint has no more of them.
      NAMES_MAX = 50

      # Of a thread: counts of the request under way; counts by endpoint, that only grow.
      CURRENT = :puma_tuner_queries
      TOTALS = :puma_tuner_queries_by_endpoint

      # Around a recorder's requests.
      module Counting
        def begin(client)
          Thread.current.thread_variable_set(CURRENT, nil)
          super
        end

        def finish(client)
          super
          counts = Thread.current.thread_variable_get(CURRENT) or return
          ActiveRecordQueries.add(@endpoint.name(client.env), counts)
        rescue => error
          Probe.fault("a request's queries could not be counted", error)
        end
      end

      # Listens to Rails: an evented subscriber, as these are not timed.
      module Listener
        def self.start(_name, _id, _payload) = nil

        # Of a query that ran on a thread of Active Record's own (load_async), told by the request's.
        def self.publish_event(event) = finish(nil, nil, event.payload)

        def self.finish(_name, _id, payload)
          return if payload[:cached] || OTHERS.include?(payload[:name])
          counts = own(CURRENT)
          name = payload[:name] || "SQL"
          counts[name] = counts.fetch(name, 0) + 1
        rescue => error
          Probe.fault("a query could not be counted", error)
        end

        # @return [Hash] the thread's, whatever fiber it is in
        def self.own(name)
          thread = Thread.current
          thread.thread_variable_get(name) || {}.tap { |hash| thread.thread_variable_set(name, hash) }
        end
      end

      class << self
        # @return [Boolean] whether the command wants to know
        attr_accessor :wanted

        # Begins to count, where it is wanted and Active Support is there.
        # @param recorder [Recorder]
        # @return [void]
        def look(recorder)
          return unless wanted && !recorder.is_a?(Counting) && defined?(::ActiveSupport::Notifications)
          @listens ||= ::ActiveSupport::Notifications.subscribe(EVENT, Listener)
          recorder.extend(Counting)
        end

        # @api private
        def add(endpoint, counts)
          totals = Listener.own(TOTALS)[endpoint] ||= {}
          counts.each do |name, count|
            totals[name] = totals.fetch(name, 0) + count if totals.key?(name) || totals.size < NAMES_MAX
          end
        end

        # Read in another thread than those that count: a copy is made in one go, and their hashes are never held.
        #
        # @return [Hash{String => Hash{String => Integer}}] by endpoint, queries by name, of the threads there are
        def read
          Thread.list.each_with_object({}) do |thread, sums|
            thread.thread_variable_get(TOTALS).dup&.each do |endpoint, counts|
              sums[endpoint] = (sums[endpoint] || {}).merge(counts.dup) { |_, one, other| one + other }
            end
          end
        end
      end
    end
  end
end
