# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells what a blocking region (time in which a thread has released the GVL) was for, where that has a better name
    # than io: connection pools, whose checkout waits like a lock; native code that lets others run while it computes;
    # and those that talk to a database, to Redis or over HTTP. Only those that the app has loaded are looked at.
    module BlockingRegions
      # checkout: the method that hands out a connection, and waits for one;
      #   checkins: those that take it back or throw it away, aliases apart, where the version has them;
      # connections: how many there are at most
      Pool = Data.define(:checkout, :checkins, :connections)

      POOLS = {
        "ActiveRecord::ConnectionAdapters::ConnectionPool" => Pool.new(checkout: :checkout,
          checkins: %i[checkin remove], connections: :size),
        "ConnectionPool::TimedStack" => Pool.new(checkout: :pop, checkins: %i[push << decrement_created],
          connections: :max),
        "Sequel::ThreadedConnectionPool" => Pool.new(checkout: :acquire, checkins: %i[release disconnect_connection],
          connections: :max_size),
        "Sequel::TimedQueueConnectionPool" => Pool.new(checkout: :acquire,
          checkins: %i[release disconnect_connection], connections: :max_size),
        "Sequel::ShardedThreadedConnectionPool" => Pool.new(checkout: :acquire, checkins: %i[release remove],
          connections: :max_size),
        "Sequel::ShardedTimedQueueConnectionPool" => Pool.new(checkout: :acquire,
          checkins: %i[release disconnect_acquired_connection], connections: :max_size)
      }.freeze

      # For each kind of step, these are classes whose methods, in C, release the GVL for nothing else. A name that ends
      # in a dot is the class or module itself.
      RECEIVERS = {
        "compute" => %w[Zlib::Deflate Zlib::Inflate Zlib::GzipWriter Zlib::GzipReader Zlib. BCrypt::Engine.],
        "db" => %w[Trilogy Mysql2::Client Mysql2::Result Mysql2::Statement PG::Connection PG::Result
          SQLite3::Database SQLite3::Statement Extralite::Database Extralite::Query TinyTds::Client TinyTds::Result
          OCI8 OCI8::Cursor],
        "redis" => %w[RedisClient::HiredisConnection],
        "http" => %w[Curl::Easy Curl::Multi Ethon::Curl. Patron::Session GRPC::Core::Call]
      }.freeze

      # For each kind of step, these methods make the round trip in libraries written in Ruby, where a plain socket
      # waits. Memcached counts as Redis: it is another server's memory, with the same cures. Where there is a choice,
      # they are not public ones, as those are what other tools like to wrap.
      SCOPES = {
        "db" => {"Mongo::Server::ConnectionBase" => %i[dispatch], "PG::Connection." => %i[new],
                 "PG::Connection" => %i[async_connect_or_reset get_copy_data], "Trilogy" => %i[initialize]},
        "redis" => {
          "RedisClient" => %i[connect], "RedisClient::ConnectionMixin" => %i[call call_pipelined],
          "Redis::Client" => %i[process], # of redis before 5, which has RedisClient do it
          "Dalli::Protocol::Base" => %i[request alive?], "Dalli::PipelinedGetter" => %i[process]
        },
        "http" => {
          "Net::HTTP" => %i[connect transport_request], "Excon::Connection" => %i[request],
          "HTTPX::Session" => %i[request],
          "HTTP::Connection" => %i[initialize send_request read_headers! readpartial],
          "HTTPClient::Session" => %i[query get_header get_body]
        }
      }.freeze

      module_function

      # Runs once the app is loaded, and again whenever an endpoint or job has occurred for the first time: libraries
      # that it loaded are seen then.
      def look_for_libraries
        @seen ||= {}
        POOLS.each { |name, pool| see(name, :pool) { |klass| klass.prepend(around(klass, pool)) } }
        RECEIVERS.each do |kind, names|
          names.each { |name| see(name, :receiver) { |receiver| GvlClock.attribute(receiver, place(kind)) } }
        end
        SCOPES.each do |kind, libraries|
          libraries.each do |name, methods|
            see(name, :scope) { |owner| owner.prepend(scope(owner, methods, place(kind))) }
          end
        end
      end

      # @return [Integer, nil] connections of the smallest of Active Record's pools, as a thread that finds none waits;
      #   nil where there is no pool, or it can't be told
      def active_record_connections_count
        handler = loaded("ActiveRecord::Base")&.connection_handler or return
        pools = begin
          handler.connection_pool_list(:all)
        rescue ArgumentError, NoMethodError # Rails before 7.1
          handler.connection_pools
        end
        pools.filter_map { |pool| pool.respond_to?(:max_connections) ? pool.max_connections : pool.size }.min
      rescue # a class of the app's own of that name, or a version that is not known
        nil
      end

      def place(kind) = Parts::CODES.fetch(kind)

      # @yieldparam constant [Module] a class, or the singleton class of what is named with a dot
      def see(name, table)
        return if @seen[[name, table]]
        constant = loaded(name.delete_suffix(".")) or return
        @seen[[name, table]] = true
        yield name.end_with?(".") ? constant.singleton_class : constant
      end

      # The class or module, unless it is not there or would be loaded by asking.
      def loaded(name)
        name.split("::").reduce(Object) do |owner, part|
          break if owner.autoload?(part) || !owner.const_defined?(part, false)
          constant = owner.const_get(part, false)
          break unless constant.is_a?(Module) # an app's own, of the same name
          constant
        end
      end

      # A pool is one of the locks, when these are watched: with as many places as connections. (Methods made of text,
      # as those made of a block can't be called in other Ractors.)
      def around(owner, pool)
        Module.new do
          class_eval <<~RUBY, __FILE__, __LINE__ + 1
            def #{pool.checkout}(...)
              was_inside = ::PumaTuner::Probe::GvlClock.checkout(true)
              ::PumaTuner::Probe::GvlClock.pool_tried(self)
              connection = super
            ensure
              ::PumaTuner::Probe::GvlClock.pool_got(self, connection && #{pool.connections})
              ::PumaTuner::Probe::GvlClock.checkout(was_inside)
            end
          RUBY
          private(pool.checkout) if owner.private_method_defined?(pool.checkout)
          pool.checkins.each do |checkin|
            is_private = owner.private_method_defined?(checkin)
            next unless is_private || owner.method_defined?(checkin)
            class_eval <<~RUBY, __FILE__, __LINE__ + 1
              def #{checkin}(...)
                super
              ensure
                ::PumaTuner::Probe::GvlClock.pool_returned(self)
              end
            RUBY
            private(checkin) if is_private
          end
        end
      end

      # @param methods [Array<Symbol>] other versions of the library may lack some; they stay as private as they are
      def scope(owner, methods, place)
        Module.new do
          methods.each do |method|
            is_private = owner.private_method_defined?(method)
            next unless is_private || owner.method_defined?(method)
            class_eval <<~RUBY, __FILE__, __LINE__ + 1
              def #{method}(...)
                before = ::PumaTuner::Probe::GvlClock.scope(#{place})
                super
              ensure
                ::PumaTuner::Probe::GvlClock.scope(before)
              end
            RUBY
            private(method) if is_private
          end
        end
      end
      private_class_method :place, :see, :loaded, :around, :scope
    end
  end
end
