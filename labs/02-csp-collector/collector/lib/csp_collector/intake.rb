# frozen_string_literal: true

require "json"
require_relative "refused"

module CspCollector
  # From a request to the reports in it. Whatever a client sends, what comes out is small, flat and valid, or refused.
  class Intake
    # body_bytes: of a request; depth_count: of nested objects and lists; reports_count: in one request; keys_count: in one
    # report, members of lists included
    Limits = Data.define(:body_bytes, :depth_count, :reports_count, :keys_count) do
      def initialize(body_bytes: 64 * 1024, depth_count: 8, reports_count: 100, keys_count: 200) = super
    end

    CSP_REPORT = "application/csp-report"
    REPORTS = "application/reports+json"

    # @param limits [Limits]
    def initialize(limits = Limits.new)
      @limits = limits
      # A key that stands twice is refused by those versions of json that can tell; the others take the last.
      @parsing = {max_nesting: limits.depth_count, allow_duplicate_key: false}.freeze
    end

    # @param env [Hash] Rack's
    # @return [Array<Hash>] each report as it was sent
    # @raise [Refused]
    def reports(env)
      type = media_type(env["CONTENT_TYPE"])
      document = parse(body(env))
      found = (type == CSP_REPORT) ? single(document) : batch(document)
      found.each { |report| bound(report, @limits.keys_count) }
    end

    private

    # Browsers send the bare type, which costs one comparison.
    def media_type(content_type)
      return content_type if content_type == CSP_REPORT || content_type == REPORTS
      bare = content_type.to_s.b[/\A[^;]*/].strip.downcase
      return bare if bare == CSP_REPORT || bare == REPORTS
      raise Refused.new(415, "content_type")
    end

    # A length may be missing (chunked) or a lie, so what was read counts.
    def body(env)
      raise Refused.new(415, "content_encoding") if env.fetch("HTTP_CONTENT_ENCODING", "identity") != "identity"
      raise Refused.new(413, "body_bytes") if env["CONTENT_LENGTH"].to_i > @limits.body_bytes
      text = env["rack.input"]&.read(@limits.body_bytes + 1)
      raise Refused.new(400, "empty") if text.nil? || text.empty?
      raise Refused.new(413, "body_bytes") if text.bytesize > @limits.body_bytes
      text.force_encoding(Encoding::UTF_8)
    end

    def parse(text)
      raise Refused.new(400, "encoding") unless text.valid_encoding?
      JSON.parse(text, **@parsing)
    rescue JSON::NestingError
      raise Refused.new(400, "depth")
    rescue JSON::JSONError
      raise Refused.new(400, "json")
    end

    def single(document)
      return [document] if document.is_a?(Hash) && document["csp-report"].is_a?(Hash)
      raise Refused.new(400, "shape")
    end

    # One report that was not put into a list is taken, too.
    def batch(document)
      list = document.is_a?(Hash) ? [document] : document
      raise Refused.new(400, "shape") unless list.is_a?(Array) && list.any?
      raise Refused.new(413, "reports_count") if list.size > @limits.reports_count
      return list if list.all? { |report| report.is_a?(Hash) && report["type"].is_a?(String) }
      raise Refused.new(400, "shape")
    end

    # @return [Integer] how many more there may be
    def bound(value, left_count)
      case value
      when Hash then bound_members(value.each_value, left_count - value.size)
      when Array then bound_members(value.each, left_count - value.size)
      else left_count
      end
    end

    def bound_members(members, left_count)
      raise Refused.new(413, "keys_count") if left_count.negative?
      members.each { |member| left_count = bound(member, left_count) if member.is_a?(Hash) || member.is_a?(Array) }
      left_count
    end
  end
end
