# frozen_string_literal: true

require "json"

module PumaTuner
  module Report
    class Html
      # Threads over time, one below the other: what each did when. A script lets one move and zoom; what is seen
      # without it is the stretch around the longest wait for the GVL.
      #
      # Where a column of the picture is less time than the steps in it, they are stacked: red a third as high as the
      # lane is a third of that time.
      class LaneChart
        HEIGHT = 24

        # So wide is a stretch at first, if as much was recorded.
        STRETCH_NS = 200_000_000

        # Of the picture that is there without a script.
        COLUMNS = 500

        # A thread of the app's own that did less tells nothing.
        LEAST_BUSY_RATIO = 0.002

        NS_PER_US = 1_000

        # Not drawn.
        NOTHING = "idle"

        KINDS = Sections::Lanes::WORDS.keys

        # @param recording [PumaTuner::Lanes::Recording]
        # @param process [Probe::ProcessLanes] of it
        def initialize(recording, process)
          @recording = recording
          @process = process
        end

        # @return [Array<Probe::Lane>] from the top down
        def lanes
          @lanes ||= @process.lanes.select do |lane|
            lane.serves_requests || 1 - lane.sums.fetch(NOTHING, 0).fdiv(lane.duration_ns) >= LEAST_BUSY_RATIO
          end
        end

        # @return [Boolean]
        def any? = lanes.any? && @process.duration_ns.positive?

        # @return [Array<String>] kinds of steps that are seen
        def kinds = KINDS.select { |kind| kind != NOTHING && lanes.any? { |lane| lane.sums.fetch(kind, 0).positive? } }

        # @return [String] of the lane, short, as it stands beside it
        def name(lane) = (lane.name || "(no name)").delete_prefix("puma ").delete_prefix("srv ")

        # @return [String]
        def share(lane) = Units.percent(lane.sums.fetch("gvl_wait", 0).fdiv(lane.duration_ns))

        # @return [String] the whole, in a sentence
        def label
          "threads over time of #{[@recording.topology, @process.worker_index &&
            "worker #{@process.worker_index}"].compact.join(", ")}: the table below has the same in figures"
        end

        # @return [Range] nanoseconds since the process began to record: the stretch that is seen at first
        def stretch
          @stretch ||= begin
            whole_ns = @process.duration_ns
            wide_ns = [STRETCH_NS, whole_ns].min
            wait = @recording.longest_wait(lanes.select(&:serves_requests))
            middle_ns = wait ? wait.from_ns + wait.duration_ns / 2 : 0
            from_ns = (middle_ns - wide_ns / 2).clamp(0, whole_ns - wide_ns)
            from_ns..(from_ns + wide_ns)
          end
        end

        # @param lane [Probe::Lane]
        # @return [Hash{String => String}] an SVG path by kind, COLUMNS wide and HEIGHT high
        def paths(lane)
          column_ns = (stretch.end - stretch.begin).fdiv(COLUMNS)
          columns = Array.new(COLUMNS) { Hash.new(0.0) }
          lane.each_step do |kind, at_ns, ns|
            first, last = [at_ns, at_ns + ns].map { |edge| ((edge - stretch.begin) / column_ns).clamp(0, COLUMNS) }
            (first.floor...last.ceil).each do |column|
              columns[column][kind] += [last, column + 1].min - [first, column].max
            end
          end
          drawn(columns)
        end

        # For the script: microseconds, edges rounded, so that no error adds up.
        # @return [String] JSON
        def packed
          names = @process.works
          JSON.generate([@process.duration_ns / NS_PER_US, stretch.minmax.map { |ns| ns / NS_PER_US }, names,
            lanes.map { |lane|
              [lane.name || "(no name)", lane.from_ns / NS_PER_US, steps(lane),
                lane.works.each_slice(3).flat_map { |place, from_ns, ns| [place, from_ns / NS_PER_US, ns / NS_PER_US] }]
            }])
        end

        private

        def steps(lane)
          at_us = lane.from_ns / NS_PER_US
          lane.each_step.flat_map do |kind, from_ns, ns|
            to_us = (from_ns + ns) / NS_PER_US
            us = to_us - at_us
            at_us = to_us
            us.zero? ? [] : [KINDS.index(kind), us]
          end
        end

        # Columns that are alike are one box.
        def drawn(columns)
          paths = Hash.new { |all, kind| all[kind] = +"" }
          columns.each_with_index.chunk_while { |(one, _), (other, _)| one == other }.each do |same|
            column, place = same.first
            y = HEIGHT
            KINDS.each do |kind|
              next if kind == NOTHING || !column.key?(kind)
              high = (column[kind] * HEIGHT).round(1)
              y = (y - high).round(1)
              paths[kind] << "M#{place} #{y}h#{same.size}v#{high}h-#{same.size}z"
            end
          end
          paths
        end
      end
    end
  end
end
