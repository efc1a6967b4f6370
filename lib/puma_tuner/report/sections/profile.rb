# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # A profile: known patterns, who called whom, which methods it went to, and which lines made which objects.
      class Profile < Base
        # What each unit is called above a column.
        HEADINGS = {"ns" => "time", "objects" => "objects", "bytes" => "bytes", "events" => "events"}.freeze

        # Gems are told by name and version, or by name and commit, Ruby's own library as such; what is left is the
        # app's. Ruby's own folder holds gems, too, so that a path is asked whether it is a gem's first.
        GEM = %r{/gems/([^/]+-(?:\d[^/]*|\h{12}))/(.+)\z}
        RUBY = %r{/lib/ruby/(?:[^/]+/)?\d+\.\d+\.\d+/(.+)\z}

        METHODS_MOST = {brief: 25, text: 25, markdown: 25, html: 200}.freeze
        SITES_MOST = {brief: 20, text: 20, markdown: 20, html: 100}.freeze
        private_constant :HEADINGS, :METHODS_MOST, :SITES_MOST

        class << self
          # @param amount [Numeric, nil] in that unit
          # @return [String]
          def amount(unit, amount)
            return "-" unless amount
            case unit
            when "ns" then Units.duration(amount)
            when "bytes" then (amount < 10_240) ? "#{amount.round} B" : "#{Units.significant(amount / 1024.0)} KiB"
            else (amount == amount.round) ? Figures.count(amount.round) : Units.significant(amount)
            end
          end

          # @param path [String, nil]
          # @param line [Integer, nil]
          # @return [String] "graphql-2.6.14/lib/graphql/schema.rb:12"; "C" of what has no file
          def place(path, line = nil)
            return "C" unless path
            short = case path
            when GEM then "#{$1}/#{$2}"
            when RUBY then "ruby/#{$1}"
            else path.delete_prefix("#{Dir.pwd}/")
            end
            [short, line].compact.join(":")
          end

          # @return [Symbol] whose code it is: :app, :gem, :ruby (its library, and all that is written in C)
          def owner(path)
            return :ruby if path.nil? || path.start_with?("<internal")
            return :gem if GEM.match?(path)
            RUBY.match?(path) ? :ruby : :app
          end
        end

        # @param costs [Profile::Costs]
        def initialize(costs)
          @costs = costs
        end

        # @return [Blocks::Page]
        def page
          went = {"ns" => (@costs.mode == "cpu") ? "CPU time" : "time", "objects" => "objects",
                  "bytes" => "memory"}.fetch(@costs.unit, "calls")
          Page.new(title: "Where the #{went} went, by method", date: @costs.recorded_at,
            conditions: "#{@costs.target}; #{sentence}", command: @costs.command,
            parts: [Part.new(id: "hints", title: "Hints", sections: [hints]),
              Part.new(id: "layers", title: "By layer", sections: [layers]),
              Part.new(id: "flame-graph", title: "Who called whom", sections: [flame_graph]),
              Part.new(id: "methods", title: "By method", sections: [methods_section]),
              Part.new(id: "objects", title: "By class and line", sections: [objects]),
              Part.new(id: "methodology", title: "Methodology", sections: [foundations])])
        end

        # @return [String] of one request where that is known, else of the whole
        def amount(amount) = Profile.amount(@costs.unit, @costs.per_work(amount) || amount)

        # @return [String] "/request", or " in all"
        def per = @costs.work_count&.positive? ? "/#{@costs.work_noun}" : " in all"

        # @return [String] percent with what sampling leaves open: "12.3 (11.8–12.9)"
        def share(amount)
          estimate = @costs.share(amount)
          return Figures.share(@costs.share_ratio(amount)) unless estimate
          "#{Figures.share(estimate.value)} (#{Figures.share(estimate.low)}–#{Figures.share(estimate.high)})"
        end

        private

        # What was looked at, by what and for how long.
        def sentence
          [
            "#{@costs.profiler} #{@costs.profiler_version}, #{@costs.mode}", how_much,
            ("over #{Units.duration(@costs.duration_ns)}" if @costs.duration_ns),
            (Figures.counted(@costs.work_count, @costs.work_noun) if @costs.work_count)
          ].compact.join("; ")
        end

        def how_much
          return "every call followed" if @costs.traced?
          interval = " of #{Units.duration(@costs.interval_ns)}" if @costs.interval_ns
          "#{Figures.counted(@costs.samples_count, "sample")}#{interval}"
        end

        # Known patterns, each with its cure and how to find out whether that brings anything.
        def hints
          return if @costs.hints.empty?
          articles = @costs.hints.map do |hint|
            Article.new("#{hint.title} [#{hint.rule}]",
              [Labelled.new(rows: {"seen" => hint.evidence, "cure" => hint.cure, "proof" => hint.proof}, style: :list)])
          end
          Section.new(id: "patterns", title: "Hints: to be proven, not believed",
            blocks: [*articles, Note.new("Known patterns that the counts show. What a cure brings is for a proof to " \
              "say.")])
        end

        def flame_graph = Section.new(id: "calls", title: "Who called whom", blocks: [Chart.new(:flame, @costs)])

        # The layers, from the app's methods down.
        LAYERS = {"methods" => "Ruby methods, compiled by YJIT", "puma" => "Puma",
                  "interpreter" => "CRuby: interpreter", "threads" => "CRuby: threads and the GVL",
                  "gc" => "CRuby: garbage collection, allocation", "extensions" => "native extensions",
                  "libraries" => "C libraries", "kernel" => "kernel"}.freeze
        private_constant :LAYERS

        def layers
          return if @costs.layers.empty?
          columns = [Column.new("layer", length: 40), Column.new("%", :figure), Column.new("CPU time#{per}", :figure)]
          rows = @costs.layers.map do |layer|
            Row.new([LAYERS.fetch(layer.name), Cell.new(share(layer.amount), number: layer.amount),
              Cell.new(amount(layer.amount), number: layer.amount)])
          end
          Section.new(id: "by-layer", title: "By layer",
            blocks: [Table.new(columns, rows), Note.new("By the function that ran, not by who called it. Methods " \
              "that YJIT did not compile, or has not named (--yjit-perf), run in the interpreter, Puma's among them.")])
        end

        # Dearest by themselves first.
        def methods_section
          methods = @costs.methods
          return if methods.empty?
          columns = [Column.new("method", length: 44), Column.new("self %", :figure), Column.new("total %", :figure),
            Column.new("#{HEADINGS.fetch(@costs.unit, @costs.unit)}#{per}", :figure),
            *(Column.new("calls#{per}", :figure) if @costs.traced?), Column.new("where", length: 46)]
          sampled = "; in brackets: the 95% interval of sampling" unless @costs.traced?
          note = "self: in the method's own code; total: with all that it called#{sampled}."
          Section.new(id: "dearest", title: "By method",
            blocks: [Table.new(columns, methods.map { |method| row(method) }, sortable: true, style: "dense",
              caption: "Sorted by self amount",
              most: METHODS_MOST, nouns: %w[method methods]), Note.new(note), *notes.map { |text| Note.new(text) }])
        end

        def row(method)
          Row.new([method.name, Cell.new(share(method.self_amount), number: method.self_amount),
            Cell.new(Figures.share(@costs.share_ratio(method.total_amount)), number: method.total_amount),
            Cell.new(amount(method.self_amount), number: method.self_amount),
            *(Cell.new(calls(method.calls_count), number: method.calls_count) if @costs.traced?),
            Profile.place(method.path, method.line)])
        end

        # Of one request where that is known.
        def calls(count)
          return "-" unless count
          number = @costs.per_work(count) || count
          (number == number.round) ? Figures.count(number.round) : Units.significant(number)
        end

        def notes
          left_out = @costs.left_out_amount
          [
            (if left_out.positive?
               "Left out: #{Profile.amount(@costs.unit, left_out)} of threads that wait for work, or are ours."
             end),
            ("The profiler lost #{Figures.counted(@costs.lost_count, "sample")}." if @costs.lost_count&.positive?),
            (if @costs.traced?
               "Every call was traced, which slows frequently called methods most: trust the counts, and compare " \
               "times only with each other."
             end),
            *Unknowns.of(@costs.unknown).map { |name, reason| "Not known: #{name}, as #{reason}." }
          ].compact
        end

        # Which lines made which objects.
        def objects
          return if @costs.allocations.empty?
          columns = [Column.new("class", length: 30), Column.new("objects#{per}", :figure),
            Column.new("KiB#{per}", :figure), Column.new("retained", :count), Column.new("where", length: 60)]
          rows = @costs.allocations.map do |site|
            kib = (@costs.per_work(site.bytes) || site.bytes)&.fdiv(1024)
            Row.new([site.class_name, Cell.new(calls(site.objects_count), number: site.objects_count),
              Cell.new(kib && Units.significant(kib), number: kib), site.retained_objects_count,
              Profile.place(site.path, site.line)])
          end
          Section.new(id: "sites", title: "Objects, by class and line",
            blocks: [Table.new(columns, rows, sortable: true, style: "dense",
              caption: "Objects that were made, and those still there at the end", most: SITES_MOST,
              nouns: %w[line lines])])
        end

        def foundations
          files = "#{@costs.profiler}'s own #{(@costs.files.size == 1) ? "file" : "files"}"
          rows = {"target" => @costs.target, "profiler" => sentence, "recorded" => @costs.recorded_at,
                  files => @costs.files.join(", "), "to look at them" => @costs.viewer,
                  "machine" => Facts.machine(@costs.machine), "kernel" => @costs.machine.kernel,
                  "remarks" => (notes if @costs.methods.empty?)}
          Section.new(id: "profiler", title: "Methodology", open: false, blocks: [Labelled.new(rows)])
        end
      end
    end
  end
end
