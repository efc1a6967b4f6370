# frozen_string_literal: true

module PumaTuner
  module Document
    # The types of fields that hold no other value, as JSON Schema has them: by their unit, which is the end of their
    # name, or by the name, as one name means the same everywhere. Reading goes by them, and so do the published schemas
    # (docs/reference/schemas). All but KNOWN ones may be null besides: what could not be known is.
    module Fields
      # What neither an array of 64 bits nor C could hold is no measurement.
      NUMBER = {"type" => "number", "minimum" => -(2**63), "maximum" => 2**63}.freeze
      INTEGER = {"type" => "integer", "minimum" => -(2**63), "maximum" => 2**63 - 1}.freeze
      COUNT = {**INTEGER, "minimum" => 0}.freeze
      # Of what is gone through one by one; it is always known.
      BOUNDED = {**INTEGER, "minimum" => 1, "maximum" => 100_000}.freeze
      # How long something is to take, likewise: nobody waits longer than that.
      SPAN = {**NUMBER, "minimum" => 0, "maximum" => 100_000}.freeze
      TEXT = {"type" => "string"}.freeze
      FLAG = {"type" => "boolean"}.freeze
      ANY = {}.freeze

      list = ->(items) { {"type" => "array", "items" => items}.freeze }
      map = ->(values) { {"type" => "object", "additionalProperties" => values}.freeze }
      or_null = ->(schema) { {**schema, "type" => [schema.fetch("type"), "null"]}.freeze }
      HASH = {"type" => "object"}.freeze
      # Older files have some lists by name.
      LIST = {"type" => %w[array object]}.freeze

      UNIT = /_(?:ns|ms|s|bytes|ratio|count|amount)\z/

      names = ->(words, schema) { words.split.to_h { |name| [name.to_sym, schema] } }

      TYPES = {
        **names.call(<<~TEXT, TEXT),
          arrivals at baseline begins_at bottleneck calibrated_at class_name command cpu_model cure detail endpoint
          ends_at evidence first_failure first_unexpected folder format generator gvl_rule holder kernel kind label
          machine_key measured_at
          memory_limited_by metric mode name part path per percentile place primary profiler profiler_version proof
          puma_version rack_environment rack_version reason recommended recorded_at role ruby_description ruby_version
          rule seen_from selector source started_at subject target text title today topology unit url variant viewer
          way_in whose why_not work_noun yjit
        TEXT
        **names.call(<<~TEXT, NUMBER),
          a adjusted_p_value amount b bytes busy_cores busy_mean cores_used cpu_quota_cores difference high load_average
          low p_value queued_mean ratio recorded slices_per_request threads_per_worker value waits_per_request
        TEXT
        **names.call("line pid position round seed server_pid size worker_index", INTEGER),
        **names.call(<<~TEXT, FLAG),
          affinity beyond_noise clearly_more complete dominated full more_is_better pareto_optimal queue_requests
          refused restored serves_requests shifted shown steady yjit_enabled
        TEXT
        **names.call("advice disagreeing files output puma_features remarks settings wait_kinds warnings what_if " \
          "withheld works", list.call(TEXT)),
        **names.call("callers conditions gauges left_out parts past_error predicted queries statuses values",
          map.call(or_null.call(NUMBER))),
        **names.call("gems lines", map.call(or_null.call(TEXT))),
        **names.call("configured effective_cores looks pids requests_counts", list.call(or_null.call(NUMBER))),
        **names.call("body_bytes_ranges memory tree", list.call(or_null.call(list.call(or_null.call(NUMBER))))),
        # An interval that is surer than that has no end, and takes no end to compute.
        id: {"type" => %w[integer string], "minimum" => -(2**63), "maximum" => 2**63 - 1}.freeze,
        level_ratio: {**NUMBER, "minimum" => 0, "maximum" => 0.9999}.freeze,
        before: HASH, after: HASH, factors: HASH, facts: HASH, samples: map.call(list.call(NUMBER)),
        steps: list.call({"type" => %w[string integer]}.freeze)
      }.freeze

      # Where a name means something else, or has bounds without which whoever computes with it would never end.
      OWN = {
        "Topology" => {workers_count: BOUNDED, threads_count: BOUNDED},
        "Probe::MachineFacts" => {cores_count: BOUNDED},
        "Prove::TrialRunner::Times" => {
          warmup_window_s: SPAN, warmup_limit_s: SPAN, duration_s: SPAN, turns_count: BOUNDED, probe_s: SPAN,
          boot_limit_s: SPAN
        },
        "Trial::Plan" => {periods_count: BOUNDED, threads_count: BOUNDED},
        "Probe::Histogram" => {zero_count: COUNT, counts: {
          "type" => "array", "items" => {
            "type" => "array", "minItems" => 2, "maxItems" => 2,
            "prefixItems" => [{**COUNT, "maximum" => 1_055}, COUNT], "items" => COUNT
          }
        }},
        "Probe::Lane" => {works: list.call(INTEGER)},
        "Profile::MethodDiff" => {before: NUMBER, after: NUMBER},
        "Model::Demand" => {bursts_ns: list.call(INTEGER), waits_ns: list.call(INTEGER)},
        "Model::Workload" => {long_gcs_ns: list.call(INTEGER)}, "Model::Cost" => {long_gcs_ns: list.call(INTEGER)},
        "Model::Machine" => {cores_count: BOUNDED, wakeup_idle_ns: list.call(INTEGER),
                             wakeup_loaded_ns: list.call(INTEGER)},
        "Load::Warmup" => {cpu_per_request_ns: list.call(or_null.call(NUMBER))},
        "Tradeoff::Study" => {estimated_bytes: map.call(or_null.call(NUMBER))},
        "Probe::Recommendation" => {ratio: list.call(NUMBER)},
        "Trial::Situation" => {refused: map.call(NUMBER)},
        "Trial::WorkerReading" => {parts_ns: map.call(or_null.call(NUMBER))}
      }.freeze

      # What is not null in any document.
      KNOWN = [BOUNDED, SPAN].freeze
      private_constant :KNOWN

      module_function

      # @param value_class [Class] of Document.define
      # @param member [Symbol]
      # @return [Hash{String => Object}, nil] JSON Schema without null; nil where nothing is said of it
      def type(value_class, member)
        own = OWN[value_class.name.to_s.delete_prefix("PumaTuner::")]
        own&.fetch(member, nil) || TYPES[member] || (NUMBER if member.match?(UNIT))
      end

      # @param schema [Hash{String => Object}] of `type`
      # @return [Boolean]
      def nullable?(schema) = KNOWN.none? { |one| one.equal?(schema) }

      # @param schema [Hash{String => Object}] of `type`
      # @return [Proc] of a value of JSON: whether it is of that type; made once, as documents have many values
      def check(schema) = CHECKS[schema] ||= any_of(Array(schema["type"]).map { |type| of_type(type, schema) })

      # By identity: the schemas above stay.
      CHECKS = {}.compare_by_identity
      private_constant :CHECKS

      def any_of(checks)
        return ->(_) { true } if checks.empty?
        checks.one? ? checks.first : ->(value) { checks.any? { |check| check.call(value) } }
      end

      def of_type(type, schema)
        case type
        when "number", "integer" then number(type, schema.fetch("minimum", -2**63), schema.fetch("maximum", 2**63))
        when "string" then ->(value) { value.is_a?(String) }
        when "boolean" then ->(value) { value == true || value == false }
        when "array" then list(schema)
        when "object" then map(schema["additionalProperties"])
        when "null" then ->(value) { value.nil? }
        end
      end

      def number(type, least, most)
        whole = type == "integer"
        lambda do |value|
          (value.is_a?(Integer) || (value.is_a?(Float) && (!whole || value == value.to_i))) &&
            value >= least && value <= most
        rescue FloatDomainError
          false
        end
      end

      def list(schema)
        items = check(schema["items"] || ANY)
        first = schema["prefixItems"].to_a.map { |one| check(one) }
        sizes = schema.fetch("minItems", 0)..schema["maxItems"]
        return ->(value) { value.is_a?(Array) && sizes.cover?(value.size) && value.all?(&items) } if first.empty?
        lambda do |value|
          value.is_a?(Array) && sizes.cover?(value.size) &&
            value.each_with_index.all? { |item, place| (first[place] || items).call(item) }
        end
      end

      def map(values)
        return ->(value) { value.is_a?(Hash) } unless values
        of_value = check(values)
        ->(value) { value.is_a?(Hash) && value.each_value.all?(&of_value) }
      end

      private_class_method :any_of, :of_type, :number, :list, :map
    end
  end
end
