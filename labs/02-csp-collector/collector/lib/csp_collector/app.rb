# frozen_string_literal: true

require "json"
require "time"
require_relative "intake"
require_relative "journal"
require_relative "output"

module CspCollector
  # The collector: takes reports of violations of a Content Security Policy from browsers, and writes each as a line of JSON.
  class App
    TEXT = "text/plain; charset=utf-8"

    # The Reporting API asks first (fetch's preflight, for the content type), and reads whether it was allowed from the answer.
    ANYBODY = {"access-control-allow-origin" => "*"}.freeze
    PREFLIGHT = {**ANYBODY, "access-control-allow-methods" => "POST", "access-control-allow-headers" => "content-type",
                 "access-control-max-age" => "86400"}.freeze

    # @param output [Output]
    # @param journal [Journal]
    # @param intake [Intake]
    # @param with_user_agent [Boolean] adds the browser's name for itself to lines of application/csp-report, which has none
    # @param retry_after_s [Integer] what a client is told that could not be served
    def initialize(output:, journal:, intake: Intake.new, with_user_agent: false, retry_after_s: 5)
      @output = output
      @journal = journal
      @intake = intake
      @with_user_agent = with_user_agent
      @retry_after_s = retry_after_s
    end

    # @param env [Hash] Rack's
    # @return [Array] Rack's
    def call(env)
      case env["PATH_INFO"]
      when "/reports" then reports(env)
      when "/health" then health(env)
      else raise Refused.new(404, "path")
      end
    rescue Refused => refused
      refuse(refused)
    end

    private

    def reports(env)
      case env["REQUEST_METHOD"]
      when "POST" then receive(env)
      when "OPTIONS" then [204, PREFLIGHT.dup, []]
      else raise Refused.new(405, "method")
      end
    end

    # 201 says: written.
    def receive(env)
      reports = @intake.reports(env)
      @output.write(lines(reports, env), shared: env["rack.multiprocess"])
      @journal.accepted(reports.size)
      [201, ANYBODY.dup, []]
    end

    def lines(reports, env)
      time = Time.now.utc.iso8601(3)
      reports.map { |report| line({"time" => time, "report" => report}, report, env) }.join
    end

    # Escaped, with everything that is not ASCII: control characters of all kinds, U+2028 and U+2029, and what turns the
    # direction of text. What stays is one line to every reader.
    def line(entry, report, env)
      entry["user_agent"] = user_agent(env) if @with_user_agent && !report.key?("user_agent")
      text = JSON.generate(entry, ascii_only: true)
      text.gsub!("\x7F", "\\u007f") if text.include?("\x7F")
      text << "\n"
    rescue JSON::JSONError
      # Half of a surrogate pair, or a number beyond all bounds: read by the parser, and not to be written.
      raise Refused.new(400, "json")
    end

    def user_agent(env) = env["HTTP_USER_AGENT"]&.byteslice(0, 512)&.dup&.force_encoding(Encoding::UTF_8)&.scrub

    def health(env)
      raise Refused.new(405, "method") unless %w[GET HEAD].include?(env["REQUEST_METHOD"])
      working = @output.working?
      facts = {"status" => working ? "ok" : "no output", "pid" => Process.pid, **@journal.counts}
      body = JSON.generate(facts) << "\n"
      [working ? 200 : 503, {"content-type" => "application/json"}, (env["REQUEST_METHOD"] == "HEAD") ? [] : [body]]
    end

    def refuse(refused)
      @journal.refused(refused.status, refused.reason)
      headers = {**ANYBODY, "content-type" => TEXT}
      headers["allow"] = "POST, OPTIONS" if refused.status == 405
      headers["retry-after"] = @retry_after_s.to_s if refused.status == 503
      [refused.status, headers, ["#{refused.reason}\n"]]
    end
  end
end
