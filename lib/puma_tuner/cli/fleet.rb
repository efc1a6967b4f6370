# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module CLI
    # puma_tuner fleet: two groups of servers, or two periods, by what a Prometheus holds of them.
    class Fleet < Dry::CLI::Command
      SOURCES = %w[auto rules raw].freeze

      desc "Compare two groups of servers, or two periods, by what they exported to Prometheus"
      option :url, default: "http://127.0.0.1:9090", desc: "of Prometheus, Thanos, Mimir, VictoriaMetrics: what comes before /api/v1"
      option :a, desc: "the baseline's labels, as in PromQL: '{yjit=\"off\"}'"
      option :b, desc: "the other's; default: the same, at another time"
      option :window, default: "7d", desc: "how long: a number and m, h, d or w"
      option :step, desc: "length of the spans that a window is cut into; default: after its length, an hour for days"
      option :a_end, desc: "when a's window ends: 2026-03-02T10:00:00Z; default: now"
      option :b_end, desc: "when b's does"
      option :source, default: "auto", values: SOURCES, desc: "recorded rules (ops/prometheus/rules.yml), or the exporter's own metrics"
      option :by, desc: "the label that names services; default: service, or job"
      option :services, default: "{}", desc: "labels of the services told of; default: all"
      option :timeout, default: "60", desc: "seconds for each query"
      option :header, desc: "sent along: \"X-Scope-OrgID: team\""
      option :seed, default: "1", desc: "of the resampling"
      option :json, desc: "file for all values; without a file, or with -: standard output"
      option :html, desc: "file for an HTML report"
      example [
        "--a '{yjit=\"off\"}' --b '{yjit=\"on\"}' --window 7d",
        "--a '{service=\"shop\"}' --a-end 2026-03-01 --b-end 2026-03-08"
      ]

      def call(url:, window:, source:, services:, timeout:, seed:, step: nil, a: nil, b: nil, a_end: nil, b_end: nil, by: nil, header: nil, json: nil, html: nil, **)
        Output.check_writable(*[json, html].compact)
        raise UserMistake, "--a is missing: the labels of the servers that are the baseline, such as --a '{yjit=\"off\"}'" unless a
        raise UserMistake, "--source #{source}: there is #{SOURCES.join(", ")}" unless SOURCES.include?(source)
        question = PumaTuner::Fleet::Reader::Question.new(selectors: [a, b || a].map { |text| PumaTuner::Fleet::Selector.parse(text) },
          ends: [PumaTuner::Fleet::Window.instant("--a-end", a_end), PumaTuner::Fleet::Window.instant("--b-end", b_end)],
          duration_s: PumaTuner::Fleet::Window.seconds("--window", window), step_s: step && PumaTuner::Fleet::Window.seconds("--step", step), source:, by:, all: PumaTuner::Fleet::Selector.parse(services),
          seed: Parse.count("--seed", seed, 0..2**62))
        prometheus = PumaTuner::Fleet::Prometheus.new(url, timeout_s: Parse.seconds("--timeout", timeout), header:)
        Output.write(PumaTuner::Fleet::Reader.new(prometheus, question).call(command: command(url:, a:, b:, window:, step:, a_end:, b_end:, source:)), out:, err:, json:, html:)
      end

      private

      # Without a header, a password or a query, which are nobody's business.
      def command(url:, **options)
        words = options.compact.flat_map { |name, value| ["--#{name.to_s.tr("_", "-")}", value] }
        Shellwords.join(["puma_tuner", "fleet", "--url", url[/\A[^?#]*/].sub(%r{//[^/]*@}, "//"), *Host::Masking.words(words)])
      end
    end
  end
end
