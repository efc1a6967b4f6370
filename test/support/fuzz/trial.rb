# frozen_string_literal: true

require "json"
require "tmpdir"
require "zlib"
require_relative "mutator"

module Fuzz
  # A reader, and inputs for it that are as they should be.
  #
  # seeds: strings; json: see Mutator
  # read: takes the path of a file, and reads it. What it raises below PumaTuner::Error is a refusal, and so is what `refuses` names, which the
  #   reader's callers rescue
  # prepare: what it needs before its first input, and takes longer than an input may; nil where that is nothing
  Reader = Data.define(:name, :seeds, :json, :refuses, :read, :prepare) do
    def initialize(name:, seeds:, read:, json: nil, refuses: [], prepare: nil) = super
  end

  # What went wrong, and where. kind: :crash, :hang, :memory, :exception or :no_reason; or :caught, which is no finding; index: of the first such
  # input; count: of all
  Finding = Data.define(:reader, :kind, :index, :detail, :count) do
    def to_s = "#{reader}: #{kind}, #{count}x: #{detail} (INPUT=#{reader}:#{index} shows the first)"
  end

  # How one reader did.
  #
  # refused_count: with a reason; caught: Array<Finding>, the places of those of them whose reason is that of an exception that was caught
  Outcome = Data.define(:reader, :inputs_count, :read_count, :refused_count, :findings, :caught, :seconds) do
    def caught_count = caught.sum(&:count)
  end

  # A process that somebody's reader needs, and that is gone.
  class Crashed < StandardError; end

  # Gives a reader so many changed inputs, in a process of its own, which is watched from outside: nothing inside could tell that a loop in C has no
  # end, or that the process is gone.
  class Trial
    # By the clock, and the machine may be busy: a reading takes a thousandth of it.
    LIMIT_S = 10
    MEMORY_BYTES = 768 << 20

    # What our checks raise, and Ruby of files and sockets, and of what is in no list or hash (`fetch`). Where a refusal has another error
    # behind it (its cause), and quotes it, our code met what it did not expect, and somebody caught that, such as
    # PumaTuner::Document.fitting.
    CHECKS = [PumaTuner::Error, PumaTuner::Load::RequestFile::Problem, IndexError, JSON::JSONError, EncodingError, SystemCallError, IOError,
      Zlib::Error].freeze

    # A reason is a sentence.
    REASON = /\S+ \S+ \S+/

    # @param reader [Reader]
    # @param seed [Integer]
    # @param limit_s [Numeric] for each input
    # @param memory_bytes [Integer] of addresses that the process may take, beside those it has
    def initialize(reader, seed:, limit_s: LIMIT_S, memory_bytes: MEMORY_BYTES)
      @reader, @seed, @limit_s, @memory_bytes = reader, seed, limit_s, memory_bytes
    end

    # @param index [Integer]
    # @return [String] the input of that number, always the same one
    def input(index)
      random = Random.new(Zlib.crc32("#{@seed} #{@reader.name} #{index}"))
      (@mutator ||= Mutator.new).call(@reader.seeds, random, json: @reader.json)
    end

    # @param count [Integer] of inputs
    # @yieldparam done [Integer] how many have been read
    # @return [Outcome]
    def run(count, &progress)
      @reader.prepare&.call
      began_s = PumaTuner::Clock.now_s
      @tally = Hash.new(0)
      @findings = {}
      done = 0
      done = watch(done, count, &progress) while done < count
      caught, findings = @findings.values.partition { |one| one.kind == :caught }
      Outcome.new(reader: @reader.name, inputs_count: count, read_count: @tally["read"], refused_count: @tally["refused"] + @tally["caught"],
        findings:, caught:, seconds: PumaTuner::Clock.now_s - began_s)
    end

    # @param index [Integer]
    # @return [Array(String, String)] what one input comes to, in this process: "read", "refused" with the reason, "caught" or a kind of finding with
    #   its place
    def try(index) = in_folder { |path| attempt(path, index) }

    private

    # Files that no disk need see.
    def in_folder
      Dir.mktmpdir("puma_tuner-fuzz", File.writable?("/dev/shm") ? "/dev/shm" : nil) { |folder| yield File.join(folder, "input") }
    end

    # @return [Integer] how many are done: all, or all up to the one that ended the process
    def watch(done, count, &progress)
      told, telling = IO.pipe
      in_folder do |path|
        pid = fork { read_all(done...count, path, telling) }
        telling.close
        done = follow(told, done, count, &progress)
        return count if done == count
        note((pid_ended?(pid) ? :crash : :hang), done, ended(pid), 1)
        done + 1
      ensure
        end_group(pid)
      end
    ensure
      told.close
    end

    # Told is a line for each input, after it.
    # @return [Integer] how many are done when all are, nothing has come for too long, or nothing more can come
    def follow(told, done, count)
      text = +""
      while done < count && told.wait_readable(@limit_s)
        part = told.read_nonblock(65_536, exception: false) or break
        next if part == :wait_readable
        *lines, text = (text << part).split("\n", -1)
        lines.each_with_index { |line, place| take(line, done + place) }
        done += lines.size
        yield done if block_given?
      end
      done
    end

    def take(line, index)
      kind, detail = line.split(" ", 2)
      @tally[kind] += 1
      note(kind.to_sym, index, detail, 1) if detail
    end

    # Those in one place are one.
    def note(kind, index, detail, count)
      known = @findings[[kind, detail]]
      @findings[[kind, detail]] = known ? known.with(count: known.count + count) : Finding.new(reader: @reader.name, kind:, index:, detail:, count:)
    end

    def pid_ended?(pid)
      sleep(0.2)
      @status = Process.wait2(pid, Process::WNOHANG)&.last
    end

    def ended(pid) = @status ? @status.to_s.sub(/\Apid \d+ /, "") : "longer than #{@limit_s} s"

    # With all that it has started.
    def end_group(pid)
      Process.kill(:KILL, -pid)
    rescue Errno::ESRCH, Errno::EPERM
      nil
    ensure
      @status || Process.wait(pid)
      @status = nil
    end

    # In the child.
    def read_all(indexes, path, telling)
      Process.setpgid(0, 0)
      $stderr.reopen(File::NULL)
      limit_memory
      indexes.each do |index|
        kind, detail = attempt(path, index)
        telling.syswrite((kind == "read" || kind == "refused") ? "#{kind}\n" : "#{kind} #{detail}\n")
      end
      exit!(0)
    end

    def limit_memory
      has_bytes = File.read("/proc/self/status")[/VmSize:\s+(\d+)/, 1].to_i * 1_024
      Process.setrlimit(:AS, has_bytes + @memory_bytes, Process.getrlimit(:AS).last)
    end

    def attempt(path, index)
      File.binwrite(path, input(index))
      @reader.read.call(path)
      ["read", nil]
    rescue PumaTuner::InvariantError => error
      ["exception", place(error)]
    rescue PumaTuner::Error, *@reader.refuses => error
      return ["no_reason", place(error)] unless error.message.scrub.match?(REASON)
      caught?(error) ? ["caught", place(error.cause)] : ["refused", error.message]
    rescue NoMemoryError => error
      ["memory", place(error)]
    rescue Crashed => error
      ["crash", error.message.tr("\n", " ")]
    rescue StandardError, SystemStackError, ScriptError => error
      ["exception", place(error)]
    end

    def caught?(error)
      cause = error.cause or return false
      CHECKS.none? { |check| check === cause } && error.message.b.include?(cause.message.lines.first.to_s.chomp.b)
    end

    # Where in our code, or in a template of it, and what, without what differs from input to input.
    def place(error)
      line = error.backtrace&.find { |one| one.match?(%r{/(lib|probe|ext)/}) && !one.match?(%r{/gems/|/ruby/\d}) }.to_s[%r{[^/]+/[^/]+\.(?:rb|erb):\d+}]
      "#{error.class} in #{line}: #{error.message.lines.first.to_s.scrub.gsub(/[^[:print:]]|".*"|'[^' ]*[^a-z_?!=' ][^']*'|\d+/, "…")[0, 120]}"
    end
  end
end
