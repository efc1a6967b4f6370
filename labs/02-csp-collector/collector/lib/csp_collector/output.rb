# frozen_string_literal: true

require "fcntl"
require_relative "refused"

module CspCollector
  # The stream of lines. `write` returns when the kernel has taken every byte, so a process that is killed afterwards loses
  # nothing that was acknowledged; power failures are the file system's.
  #
  # One thread at a time has the pen, and what it writes is never mixed with another's. A write that fails half-way leaves a
  # torn line, and the next write ends that before it begins. Several worker processes share one stream, so there the whole
  # of a write is under a file lock, and each begins with an empty line: who died writing could not tell the others.
  #
  # A reader who has stopped reading must not hold up the threads forever: after a limit the write is refused, and so is
  # every further one, at once, until the stream takes something again.
  class Output
    # What a pipe that is ready at all takes without blocking (POSIX's PIPE_BUF on Linux).
    PIECE_BYTES = 4096

    REASONS = {Errno::EPIPE => "output_gone", Errno::ENOSPC => "output_full", Errno::EDQUOT => "output_full", Errno::EFBIG => "output_full"}.freeze

    # @param io [IO]
    # @param wait_limit_s [Numeric] for the pen, and then for the stream
    # @param waiting_count [Integer] threads that may wait for the pen; more are refused at once
    def initialize(io, wait_limit_s: 1.0, waiting_count: 16)
      @io = io
      @wait_limit_s = wait_limit_s
      @waiting_count = waiting_count
      @pen = Thread::Queue.new([:pen])
      @stalled = false
      prepare(io.stat)
    end

    # @param text [String] whole lines
    # @param shared [Boolean] other processes write to the same stream
    # @return [void]
    # @raise [Refused] 503: not all of it is written, and none of it may be acknowledged
    def write(text, shared: false)
      raise Refused.new(503, "overloaded") if @pen.num_waiting >= @waiting_count
      @pen.pop(timeout: @wait_limit_s) or raise Refused.new(503, "output_stalled")
      begin
        shared ? locked { put(text, after_others: true) } : put(text)
      ensure
        @pen << :pen
      end
    end

    # @return [Boolean] false when the last write found the stream stalled, or failed
    def working? = !(@stalled || @torn == :failed)

    private

    # What was in the file before may end in a torn line: who wrote it may have been killed. In append mode a write goes to
    # the end also when somebody has truncated the file.
    def prepare(stat)
      @io.sync = true
      @torn = stat.file? && stat.size.positive?
      @blocking = !(stat.file? || (stat.chardev? && stat.rdev == File.stat(File::NULL).rdev))
      @io.fcntl(Fcntl::F_SETFL, @io.fcntl(Fcntl::F_GETFL) | File::APPEND) if stat.file?
    end

    def put(text, after_others: false)
      torn = @torn
      text = "\n#{text}" if torn || after_others
      @torn = :failed
      @blocking ? put_pieces(text) : put_whole(text)
      @torn = false
    rescue SystemCallError, IOError => error
      raise Refused.new(503, REASONS.fetch(error.class, "output_failed"))
    rescue Refused
      @torn = torn if @untouched
      raise
    end

    # A regular file takes all at once, but for a disk that is full: then the rest is tried, and says so.
    def put_whole(text)
      text = text.byteslice(@io.syswrite(text)..) until text.empty?
    end

    def put_pieces(text)
      @untouched = true
      limit_s = now_s + @wait_limit_s
      until text.empty?
        await_room(limit_s)
        @untouched = false
        text = text.byteslice(@io.syswrite(text.byteslice(0, PIECE_BYTES))..)
      end
    end

    def await_room(limit_s)
      @stalled = !@io.wait_writable(@stalled ? 0 : [limit_s - now_s, 0].max)
      raise Refused.new(503, "output_stalled") if @stalled
    end

    # This file is the lock: every process of every collector here can open it, and nothing is left behind. Each process
    # opens it for itself, as a lock belongs to what was opened, which a fork shares.
    def locked
      @lock, @lock_pid = File.open(__FILE__), Process.pid unless @lock_pid == Process.pid
      @lock.flock(File::LOCK_EX)
      yield
    ensure
      @lock&.flock(File::LOCK_UN)
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
