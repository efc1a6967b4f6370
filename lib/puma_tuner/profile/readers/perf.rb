# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # perf's binary file, as `perf script` prints it: a line with thread, time and weight, then a line for each frame, leaf first.
      class Perf
        # Of a file and of one that was written into a pipe.
        SIGNATURE = /\A(?:PERFILE2|2ELIFREP)/n

        # What is where, each told by offset and size, 8 bytes each (tools/perf/Documentation/perf.data-file-format.txt in the
        # kernel's source): the samples, and behind them a list of further sections, one for each bit that is set.
        HEADER_BYTES = 104
        DATA_AT = 40
        BITS_AT = 72
        SECTION_BYTES = 16

        FIELDS = "pid,tid,time,period,ip,sym,dso"
        HEAD = %r{\A\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s*\z}
        FRAME = /\A\s+\h+ (.*) \((.*)\)\s*\z/
        LOST = /PERF_RECORD_LOST.*?lost (\d+)/

        # How Ruby's YJIT names machine code in its map: a method, with its place.
        RUBY_METHOD = /\A\[JIT\] (.+)@(.+):(\d+)\z/

        # An address that lies in no file: where frame pointers are missing, the search for callers ends in such.
        NOWHERE = ["[unknown]", "[unknown]"].freeze

        # @param path [String]
        # @param program [Profilers::Perf]
        def initialize(path, program)
          @path = path
          @program = program
          @frames = {}
        end

        # (see Reader#samples)
        def samples
          insist_on_kind
          header = told("script", "--header-only")
          @pids = {}
          @lost_count = 0
          stacks = stacks_of(told("script", "--ns", "--no-inline", "--show-lost-events", "-F", FIELDS))
          Samples.new(profiler: Profilers::Perf::NAME, profiler_version: header[/^# perf version : (\S+)/, 1], mode: "cpu", unit: "ns", stacks:,
            samples_count: stacks.size, interval_ns: interval_ns(header), lost_count: @lost_count, pid: (@pids.keys.first if @pids.one?))
        end

        private

        def refuse(problem) = raise(UnreadableProfile.new(@path, problem))

        def insist_on_kind
          head = File.binread(@path, HEADER_BYTES)
          refuse("it is empty") if head.nil? || head.empty?
          refuse("it was not written by perf") unless head.match?(SIGNATURE)
          refuse("it is cut short: perf can't read it whole") if head.start_with?("PERFILE2") && cut_short?(head)
        rescue SystemCallError => error
          refuse(error.message[/\A[^@]+/].strip)
        end

        # Of what is cut off in the middle, perf itself prints the part that is there, and is content.
        def cut_short?(head)
          return true if head.bytesize < HEADER_BYTES
          data_end = head.unpack("@#{DATA_AT}Q2").sum
          count = head.unpack1("@#{BITS_AT}b256").count("1")
          list = File.binread(@path, count * SECTION_BYTES, data_end)
          list.nil? || list.bytesize < count * SECTION_BYTES || list.unpack("Q*").each_slice(2).any? { |section| section.sum > File.size(@path) }
        end

        def told(command, *words)
          output, success = @program.output_of(command, "-i", @path, *words)
          return output if success
          refuse("perf can't read it; it is cut short, or of another version (#{output.lines.last&.strip})")
        end

        def interval_ns(header) = header[/sample_freq \} = (\d+)/, 1]&.then { |frequency| 1_000_000_000 / frequency.to_i }

        def stacks_of(output)
          output.each_line.slice_before(HEAD).filter_map do |head, *lines|
            @lost_count += [head, *lines].sum { |line| line[LOST, 1].to_i }
            next unless (match = HEAD.match(head))
            pid, tid, seconds, fraction, period = match.captures.map { |digits| digits.to_i(10) }
            @pids[pid] = true
            Stack.new(frames: frames(lines), amount: period, thread: tid, at_ns: seconds * 1_000_000_000 + fraction)
          end
        end

        def frames(lines) = lines.filter_map { |line| FRAME.match(line)&.captures }.reverse.reject { |place| place == NOWHERE }.map { |symbol, object| frame(symbol, object) }.freeze

        def frame(symbol, object)
          @frames[[symbol, object]] ||=
            if (method = RUBY_METHOD.match(symbol))
              Frame.new(name: method[1], path: method[2], line: method[3].to_i)
            else
              Frame.new(name: (symbol == "[unknown]") ? "[unknown in #{File.basename(object)}]" : symbol, path: nil, line: nil)
            end
        end
      end
    end
  end
end
