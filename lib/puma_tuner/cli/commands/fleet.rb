# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    # Two groups of servers, or two periods, by what a Prometheus holds of them.
    class Commands::Fleet < Command
      SOURCES = %w[auto rules raw].freeze

      desc "Compare two groups of servers, or two periods, by what they exported to Prometheus"
      options :verbose, :a, :b, :html, :step, :a_end, :b_end, :source, :by, :services, :timeout, :header, :cert, :key,
        :seed, :slo, :output, window: "7d",
        url: {default: "http://127.0.0.1:9090",
              about: "address of Prometheus, Thanos, Mimir, VictoriaMetrics: everything before /api/v1"}
      example [
        "--a '{yjit=\"off\"}' --b '{yjit=\"on\"}' --window 7d",
        "--a '{service=\"shop\"}' --a-end 2026-03-01 --b-end 2026-03-08"
      ]

      def call(url:, timeout:, header:, cert:, key:, output:, html:, **options)
        Output.check_writable(output, html)
        question = question_of(**options)
        prometheus = Fleet::Prometheus.new(url, timeout_s: timeout, headers: header, cert:, key:)
        found = Fleet::Reader.new(prometheus, question).call(command: command(url, options))
        Output.write(found, **telling, path: output, html:)
      end

      private

      def question_of(a:, b:, a_end:, b_end:, window:, step:, source:, by:, services:, seed:, slo:)
        unless a
          raise UsageError, "--a is missing: the labels of the servers that are the " \
            "baseline, such as --a '{yjit=\"off\"}'"
        end
        raise UsageError, "--source #{source}: choose one of #{SOURCES.join(", ")}" unless SOURCES.include?(source)
        Fleet::Reader::Question.new(selectors: [a, b || a].map { |text| Fleet::Selector.parse(text) },
          ends: [Fleet::Window.instant("--a-end", a_end), Fleet::Window.instant("--b-end", b_end)],
          duration_s: Fleet::Window.seconds("--window", window), step_s: step && Fleet::Window.seconds("--step", step),
          source:, by:, all: Fleet::Selector.parse(services || "{}"), seed:, goals: slo)
      end

      # Leaves out headers, passwords, keys and queries, which are nobody's business.
      def command(url, options)
        words = options.flat_map do |name, values|
          Array(values).flat_map { |value| ["--#{name.to_s.tr("_", "-")}", value.to_s] }
        end
        Shellwords.join(["puma_tuner", "fleet", "--url", url[/\A[^?#]*/].sub(%r{//[^/]*@}, "//"),
          *Host::Masking.words(words)])
      end
    end
  end
end
