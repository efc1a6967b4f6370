# frozen_string_literal: true

require "zlib"

module PumaTuner
  module Profile
    module Readers
      # Rperf's own JSON, gzipped or not: samples are [[[path, label], … leaf first], ns, thread, label set].
      class Rperf < Reader
        GZIP = "\x1f\x8b".b.freeze

        # A label set may say these things of the interpreter; each has a frame that stands for it.
        STATES = {["%GVL", "wait"] => Frame::GVL_WAIT, ["%GC", "mark"] => Frame::GC,
                  ["%GC", "sweep"] => Frame::GC}.freeze

        private

        def parse(bytes)
          super(bytes.start_with?(GZIP) ? unpacked(bytes) : bytes)
        rescue Zlib::Error
          refuse("it is cut short, or its compression is damaged")
        end

        # What deflate packs becomes at most so many times as long again.
        RATIO_MAX = 1_032

        # Zlib.gunzip reads from nowhere where the header is cut short, and unpacks without end. The room for all of it
        # is there from the beginning, as a text that grows has room for twice as much; what is not written to takes no
        # memory.
        def unpacked(bytes)
          stream = Zlib::Inflate.new(Zlib::MAX_WBITS + 16)
          text = String.new(capacity: [bytes.bytesize * RATIO_MAX, MOST_BYTES].min)
          take = lambda do |part|
            refuse_size("unpacked it has") if text.bytesize + part.bytesize > MOST_BYTES
            text << part
          end
          stream.inflate(bytes, &take)
          stream.finish(&take)
          text
        ensure
          stream.reset # closing one in the middle is warned of
          stream.close
        end

        def check(content)
          ensure_kind(content.is_a?(Hash) && content["rperf_version"])
          ensure_version(content["rperf_version"])
          ensure_mode(content.fetch("mode"))
        end

        def build(content)
          ends = content["label_sets"].to_a.map { |labels| STATES.values_at(*labels.to_a).compact.first }
          amounts = Hash.new(0)
          content.fetch("aggregated_samples").each do |frames, ns, _thread, labels|
            amounts[[frames, ends[labels.to_i]]] += Integer(ns)
          end
          stacks = amounts.map do |(frames, last), amount|
            Stack.new(frames: stack(frames, last), amount:, thread: nil, at_ns: nil)
          end
          Samples.new(profiler: @profiler::NAME, profiler_version: content["rperf_version"], mode: content["mode"],
            unit: "ns", stacks:, samples_count: content["sampling_count"],
            interval_ns: 1_000_000_000 / content.fetch("frequency"),
            lost_count: content["dropped_samples"].to_i + content["dropped_aggregation"].to_i, pid: content["pid"])
        end

        def stack(frames, last) = [*frames.reverse.map { |path, label| frame(label, path, nil) }, *last].freeze
      end
    end
  end
end
