# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # Vernier's file is a document for the Firefox profiler. Files that Vernier itself wrote, without our adapter,
      # will do too, with what they don't tell left unknown.
      class Vernier < Reader
        # The version of the format; Vernier raises it when the shape changes.
        FORMAT = 48

        UNITS = {"wall" => "ns", "objects" => "objects", "retained" => "bytes"}.freeze

        NS_PER_MS = 1_000_000

        private

        def check(content)
          ensure_kind(content.is_a?(Hash) && content["meta"].is_a?(Hash) &&
            content["meta"]["product"] == "Ruby/Vernier")
          @facts = content["meta"]["vernierUserMetadata"] || {}
          ensure_version(@facts["profiler_version"]) if @facts["profiler_version"]
          format = content["meta"]["preprocessedProfileVersion"]
          unless format == FORMAT
            refuse("it is of version #{Document.told(format)} of the Firefox profiler's format, and known here is " \
              "#{FORMAT}")
          end
          @kind = ensure_mode(@facts["mode"] || @mode || @profiler.default_mode)
        end

        def build(content)
          stalled = content["meta"].fetch("categories").index { |category| category["name"] == "Stalled" }
          threads = content.fetch("threads")
          stacks = threads.flat_map { |thread| stacks_of(thread, stalled) }
          Samples.new(profiler: @profiler::NAME, profiler_version: @facts["profiler_version"], mode: @kind,
            unit: UNITS.fetch(@kind), stacks:, samples_count: @count.to_i,
            interval_ns: (interval_ns if @kind == "wall"), pid: threads.first&.fetch("pid"))
        end

        # The number first: a text times a number would be a text that no memory holds.
        def interval_ns = 1_000 * (@facts["interval_us"] || 500)

        def stacks_of(thread, stalled)
          table = (@kind == "objects") ? thread["jsAllocations"] : thread.fetch("samples")
          return [] unless table
          gecko = Gecko.new(thread, method(:function))
          tid = thread.fetch("tid")
          tid = nil unless tid.positive? && @kind != "retained"
          table.fetch("stack").each_with_index.map do |row, place|
            weight = table.fetch("weight").fetch(place)
            @count = @count.to_i + ((@kind == "retained") ? 1 : weight)
            frames = gecko.frames(row)
            frames = with_wait(frames) if gecko.category(row) == stalled
            Stack.new(frames:, amount: (@kind == "wall") ? interval_ns * weight : weight, thread: tid,
              at_ns: at_ns(table, place))
          end
        end

        def with_wait(frames) = (@with_wait ||= {}.compare_by_identity)[frames] ||= [*frames, Frame::GVL_WAIT].freeze

        def at_ns(table, place) = ((NS_PER_MS * table.fetch("time").fetch(place)).round if @kind == "wall")

        def function(name, path, line) = frame(name, full_path(path), line)

        # "gem:NAME-VERSION:PATH", "rubylib:VERSION:PATH", or relative to where the process stood.
        def full_path(path)
          case path
          when /\Agem:([^:]+):(.+)/ then in_gem_folders("gems/#{$1}/#{$2}") || path
          when /\Arubylib:[^:]+:(.+)/ then @facts["ruby_library"] ? File.join(@facts["ruby_library"], $1) : path
          when %r{\A[^/<(]} then @facts["working_directory"] ? File.join(@facts["working_directory"], path) : path
          else path
          end
        end

        # The process may have had several; the one that has the file is meant.
        def in_gem_folders(path)
          folders = @facts["gem_folders"] or return
          candidates = folders.map { |folder| File.join(folder, path) }
          candidates.find { |candidate| File.file?(candidate) } || candidates.first
        end
      end
    end
  end
end
