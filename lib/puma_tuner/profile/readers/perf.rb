# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # perf's binary file, as `perf script` prints it: a line with thread, time
      # and weight, then a line for each frame, leaf first.
      class Perf
        # A file begins so that was written on a machine whose numbers begin with their lowest byte, as all do that Ruby
        # is run on.
        SIGNATURE = /\APERFILE2/n

        HEAD_BYTES = 104

        FIELDS = "pid,tid,time,period,ip,sym,dso"
        HEAD = %r{\A\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s*\z}
        FRAME = /\A\s+\h+ (.*) \((.*)\)\s*\z/
        LOST = /PERF_RECORD_LOST.*?lost (\d+)/

        # Ruby's YJIT names machine code so in its map: a method, with its place.
        RUBY_METHOD = /\A\[JIT\] (.+)@(.+):(\d+)\z/

        # An address that lies in no file: where frame pointers are missing, the search for callers ends in such.
        NOWHERE = ["[unknown]", "[unknown]"].freeze

        # @param path [String]
        # @param program [Profile::Perf]
        def initialize(path, program)
          @path = path
          @program = program
          @frames = {}
        end

        # (see Reader#samples)
        def samples
          ensure_kind
          header = told("script", "--header-only")
          @pids = {}
          @lost_count = 0
          stacks = stacks_of(told("script", "--ns", "--no-inline", "--show-lost-events", "-F", FIELDS))
          Samples.new(profiler: Profile::Perf::NAME, profiler_version: header[/^# perf version : (\S+)/, 1],
            mode: "cpu", unit: "ns", stacks:, samples_count: stacks.size, interval_ns: interval_ns(header),
            lost_count: @lost_count, pid: (@pids.keys.first if @pids.one?))
        end

        private

        def refuse(problem) = raise(UnreadableProfile.new(@path, problem))

        def ensure_kind
          File.open(@path, "rb") do |file|
            head = file.read(HEAD_BYTES).to_s
            refuse("it is empty") if head.empty?
            refuse("it was not written by perf") unless head.match?(SIGNATURE)
            refuse("it is cut short") if head.bytesize < HEAD_BYTES || file.size < whole_bytes(file, head)
          end
        rescue SystemCallError => error
          refuse(error.message[/\A[^@]+/].strip)
        end

        # perf itself reads half a file without a word. The head says where samples end; behind them stand the places of
        # further sections, as many as there are bits in a set.
        #
        # @return [Integer] how long the file is at least
        def whole_bytes(file, head)
          data_end = head.unpack("@40Q<2").sum
          sections_count = head.unpack1("@72b256").count("1")
          return data_end if data_end > file.size
          file.seek(data_end)
          ends = file.read(sections_count * 16).to_s.unpack("Q<*").each_slice(2).map { |place, size| place + size.to_i }
          [data_end + sections_count * 16, *ends].max
        end

        def told(command, *words)
          output, success = @program.output_of(command, "-i", @path, *words)
          return output.scrub if success
          refuse("perf can't read it; it is cut short, or of another version (#{output.lines.last&.strip})")
        end

        def interval_ns(header)
          header[/sample_freq \} = (\d+)/, 1]&.then { |frequency| 1_000_000_000 / frequency.to_i }
        end

        def stacks_of(output)
          output.each_line.slice_before(HEAD).filter_map do |head, *lines|
            @lost_count += [head, *lines].sum { |line| line[LOST, 1].to_i }
            next unless (match = HEAD.match(head))
            pid, tid, seconds, fraction, period = match.captures.map { |digits| digits.to_i(10) }
            @pids[pid] = true
            Stack.new(frames: frames(lines), amount: period, thread: tid, at_ns: seconds * 1_000_000_000 + fraction)
          end
        end

        def frames(lines)
          lines.filter_map { |line| FRAME.match(line)&.captures }.reverse.reject { |place| place == NOWHERE }
            .map { |symbol, object| frame(symbol, object) }.freeze
        end

        def frame(symbol, object)
          @frames[[symbol, object]] ||=
            if (method = RUBY_METHOD.match(symbol))
              Frame.new(name: method[1], path: method[2], line: method[3].to_i,
                layer: Layers.of(symbol, object, method[2]))
            else
              Frame.new(name: (symbol == "[unknown]") ? "[unknown in #{object[%r{[^/]*\z}]}]" : symbol,
                path: nil, line: nil, layer: Layers.of(symbol, object))
            end
        end
      end
    end
  end
end
