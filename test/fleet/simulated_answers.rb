# frozen_string_literal: true

require_relative "fake_prometheus"

# Two groups as a Prometheus would tell of them, without one: label yjit is "off" or "on". Each figure can be replaced.
module SimulatedAnswers
  # The bounds of the fake's histograms, seconds.
  BOUNDS = %w[0.01 0.02 0.05 0.1 +Inf].freeze

  module_function

  # @param overrides [Hash{Regexp => #call}] queries to what answers them, by request; the first that matches
  # @return [Proc] for FakePrometheus
  def call(overrides = {})
    lambda do |request|
      query = request.parameters["query"].to_s
      override = overrides.find { |pattern, _| pattern.match?("#{request.path} #{query}") }
      next override.last.call(request) if override
      next label_values(request) if request.path.start_with?("label/")
      (request.path == "query") ? instant(request, query) : {resultType: "matrix", result: range(request, query)}
    end
  end

  def label_values(request) = {"yjit" => %w[off on], "service" => ["shop"]}.fetch(request.path[%r{label/(\w+)/}, 1], [])

  def instant(request, query)
    result =
      case query
      when /puma_tuner_exporter_info/ then query.match?(/yjit="(off|on)"|info\[/) ? [{metric: {schema: "1", complete: "true"}, value: [1, "4"]}] : []
      when /vector/ then [{metric: {}, value: [1, "1"]}]
      else []
      end
    {resultType: "vector", result:}
  end

  def range(request, query)
    on = query.include?("\"on\"")
    times = (request.parameters["start"].to_i..request.parameters["end"].to_i).step(request.parameters["step"].to_i).to_a
    series(query, on).map do |labels, number|
      {metric: labels, values: times.each_with_index.map { |time, index| [time, (number.is_a?(Proc) ? number.call(index) : number).to_s] }}
    end
  end

  # Traffic rises and falls; group on is a fifth faster and takes 1.3 times the memory.
  def traffic(index) = 1_000 + 200 * Math.sin(index / 3.0)

  def series(query, on)
    case query
    when /\Asum by \(le, ?(service|job)\)/, /endpoint_request_duration/ then query.include?("endpoint") ? endpoints(on) : [[{service: "shop"}, ->(index) { 2 * traffic(index) }]]
    when /request_duration_seconds_bucket/ then query.match?(/le="\+Inf"/) ? [[{service: "shop", le: "+Inf"}, ->(index) { 2 * traffic(index) }]] : histogram(on)
    when /request_time_seconds/ then {cpu: 4, gc: 1, io: 10, gvl_wait: on ? 2 : 3, queue: 1, lock: 0, sleep: 0, preempted: 0}.map { |part, weight| [{part:, service: "shop"}, ->(index) { weight * traffic(index) / 1_000 }] }
    when /process_cpu/ then [[{}, ->(index) { (on ? 4 : 5) * traffic(index) / 1_000 }]]
    when /count_over_time/ then [[{}, 4]]
    when /resets/ then [[{}, 0]]
    else levels(query, on)
    end
  end

  def levels(query, on)
    numbers = {"count (puma_tuner_yjit_code" => on ? 4 : nil, "pss_bytes" => on ? 1.3e9 : 1.0e9, "code_region" => on ? 8.0e7 : nil, "limited" => on ? 4.5e7 : nil, "limit_bytes" => on ? 5.0e7 : nil, "count (puma_tuner_worker_threads" => 4,
               "sum (puma_tuner_worker_threads" => 20, "exporter_info" => 2, "worker_threads" => query.include?("count") ? 4 : 20}
    number = numbers.find { |part, _| query.include?(part) }&.last
    number ? [[{service: "shop"}, number]] : []
  end

  # Lower buckets fill up when it is faster.
  def histogram(on)
    shares = on ? [0.3, 0.7, 0.95, 1.0, 1.0] : [0.2, 0.6, 0.9, 0.99, 1.0]
    BOUNDS.zip(shares).map { |le, share| [{le:}, ->(index) { share * traffic(index) }] }
  end

  def endpoints(_on) = BOUNDS.zip([0.2, 0.6, 0.9, 1.0, 1.0]).flat_map { |le, share| %w[a b].map { |name| [{endpoint: "GET /#{name}", le:}, ->(index) { share * traffic(index) / 2 }] } }
end
