# frozen_string_literal: true

module PumaTuner
  module Measure
    # Libraries whose time without the GVL is no io: connection pools, whose checkout waits like a lock, and native code
    # that lets others run while it computes. Only those that the app has loaded are looked at.
    module OffGvl
      # The method that hands out a connection, and waits for one.
      CHECKOUTS = {
        "ActiveRecord::ConnectionAdapters::ConnectionPool" => :checkout,
        "ConnectionPool::TimedStack" => :pop,
        "Sequel::ThreadedConnectionPool" => :acquire,
        "Sequel::TimedQueueConnectionPool" => :acquire
      }.freeze

      # Receivers of the methods that compute: instances, and for bcrypt the class itself.
      COMPUTING_INSTANCES = %w[Zlib::Deflate Zlib::Inflate Zlib::GzipWriter Zlib::GzipReader].freeze
      COMPUTING_MODULES = %w[Zlib BCrypt::Engine].freeze

      module_function

      # Done once the app is loaded. What it loads later is seen when this is called again.
      def look_for_libraries
        @seen ||= {}
        CHECKOUTS.each { |name, checkout| see(name) { |pool| pool.prepend(around(checkout)) } }
        COMPUTING_INSTANCES.each { |name| see(name) { |klass| GvlClock.computes(klass) } }
        COMPUTING_MODULES.each { |name| see("#{name}.") { |_| GvlClock.computes(Object.const_get(name).singleton_class) } }
      end

      def see(name)
        return if @seen[name]
        constant = loaded(name.delete_suffix(".")) or return
        @seen[name] = true
        yield constant
      end

      # The constant, unless it is not there or would be loaded by asking.
      def loaded(name)
        name.split("::").reduce(Object) do |owner, part|
          break if owner.autoload?(part) || !owner.const_defined?(part, false)
          owner.const_get(part, false)
        end
      end

      def around(checkout)
        Module.new do
          define_method(checkout) do |*arguments, **options, &block|
            was_inside = GvlClock.checkout(true)
            super(*arguments, **options, &block)
          ensure
            GvlClock.checkout(was_inside)
          end
        end
      end
      private_class_method :see, :loaded, :around
    end
  end
end
