# frozen_string_literal: true

require "socket"

module Validation
  # A service outside of the app, as a program of its own: a few places, in each of which one request at a time is served, for as
  # long as it asks to be. A request that finds none free waits, first come, first served, as at a database with so few connections.
  #
  # By its clock a place is free as soon as its request's time is over, and the next one's time begins at that instant. So a core
  # that comes late makes one answer late, and no place. One thread has all places; it sleeps until the next time is over or somebody
  # writes. Rejected: a thread for each place, which would need Ruby's GVL before it could give its place on.
  #
  # It tells its port in a line. Each line that it is sent it answers with the requests that came since the last one, and the most
  # places in use at once. It ends with its standard input, which only the process that has started it holds, and so with that
  # process, however that ends.
  class Places
    # Microseconds, with the first byte as the highest.
    REQUEST_BYTES = 4
    ANSWER = "."

    # @param count [Integer] of places
    def initialize(count)
      @count = count
      @listener = TCPServer.new("127.0.0.1", 0)
      @clients = []
      @served = [] # each with the instant at which its time is over, the next one first
      @line = []
      @requests_count = @most_count = 0
    end

    # @param input [IO] asked through, until it ends
    # @param output [IO] told through
    def run(input, output)
      output.sync = true
      output.puts(@listener.addr[1])
      loop do
        readable, = IO.select([input, @listener, *@clients], nil, nil, left_s)
        free_places
        if readable&.delete(input)
          return unless input.gets
          tell(output)
        end
        readable&.each { |io| (io == @listener) ? let_in : hear(io) }
      end
    end

    private

    def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

    # @return [Float, nil] seconds until a place is free; nil: all are
    def left_s = @served.first&.then { |ends_ns, _| [ends_ns - now_ns, 0].max / 1e9 }

    # Before new requests are looked at: those in line came before them.
    def free_places
      now_ns = self.now_ns
      while @served.any? && @served.first.first <= now_ns
        ended_ns, client = @served.shift
        serve(*@line.shift, ended_ns) if @line.any?
        answer(client)
      end
    end

    def serve(client, duration_ns, from_ns)
      @served.push([from_ns + duration_ns, client]).sort_by!(&:first)
      @most_count = [@most_count, @served.size].max
    end

    def answer(client)
      client.write_nonblock(ANSWER)
    rescue SystemCallError, IOError
      nil # it has gone
    end

    def let_in
      client = @listener.accept_nonblock(exception: false)
      @clients << client unless client == :wait_readable
    end

    def hear(client)
      request = client.read_nonblock(REQUEST_BYTES, exception: false)
      return leave(client) unless request
      come(client, request.unpack1("N") * 1_000) unless request == :wait_readable
    rescue SystemCallError
      leave(client)
    end

    def come(client, duration_ns)
      @requests_count += 1
      (@served.size < @count) ? serve(client, duration_ns, now_ns) : @line << [client, duration_ns]
    end

    # What it asked for is done all the same: a service does not know that nobody waits any longer.
    def leave(client) = @clients.delete(client).close

    def tell(output)
      output.puts("#{@requests_count} #{@most_count}")
      @requests_count, @most_count = 0, @served.size
    end
  end
end

if File.identical?(__FILE__, $PROGRAM_NAME)
  # A sleeping thread may be woken 50 µs late, so that the kernel can wake several at once. Linux lets a process do without.
  begin
    File.write("/proc/self/timerslack_ns", "1")
  rescue SystemCallError
    nil # another system, or an old kernel
  end
  places = Validation::Places.new(Integer(ARGV.fetch(0)))
  Process.warmup # what is there by now is not looked at by each garbage collection
  places.run($stdin, $stdout)
end
