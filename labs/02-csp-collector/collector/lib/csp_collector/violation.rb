# frozen_string_literal: true

require "json"
require_relative "browser"
require_relative "noise"

module CspCollector
  # What is counted of a report: a few short words of bounded kinds, whatever was in it.
  #
  # directive: a known one or "(unknown)"; host: of what was blocked, or the word for it ("inline", "data:"); path: of the
  # document, without query; browser: a family; noise: one of Noise::KINDS, or empty
  Violation = Data.define(:directive, :host, :path, :browser, :noise)

  # Reads lines of the collector.
  class LineReader
    # A line that is none of ours.
    class Bad < StandardError; end

    # seen_at_s: the line's time, in whole seconds since 1970; violation: nil for a report of another kind
    Entry = Data.define(:seen_at_s, :violation)

    DIRECTIVES = %w[default-src script-src script-src-elem script-src-attr style-src style-src-elem style-src-attr img-src font-src
      connect-src media-src object-src frame-src child-src worker-src manifest-src prefetch-src fenced-frame-src base-uri form-action
      frame-ancestors navigate-to plugin-types sandbox report-uri report-to block-all-mixed-content upgrade-insecure-requests
      require-sri-for require-trusted-types-for trusted-types].to_h { |name| [name, name] }.freeze

    # Names of the same things in the two formats.
    CSP_REPORT = {directive: %w[effective-directive violated-directive], blocked: %w[blocked-uri], document: %w[document-uri], source: %w[source-file]}.freeze
    REPORTS = {directive: %w[effectiveDirective violatedDirective], blocked: %w[blockedURL blockedURI], document: %w[documentURL documentURI], source: %w[sourceFile]}.freeze

    TIME = /\A(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?Z\z/
    ADDRESS = %r{\A(?:https?|wss?)://(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:\\]*)(?::\d+)?([^?#]*)}i
    HOST = /\A(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])\z/
    WORD = /\A[a-z][a-z0-9-]*\z/
    PATH_LIMIT = 160

    # What would show otherwise than it is: control characters, and those that turn the direction of text or take no place.
    UNSHOWABLE = /[[:cntrl:]\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/

    # Segments that name one thing of many: numbers, UUIDs, digests, and long words with digits in them.
    ID = /\A(?:\d+|\h{8}-\h{4}-\h{4}-\h{4}-\h{12}|\h{16,}|(?=.*\d)[\w-]{20,})\z/

    # @param fold_ids [Boolean] puts ":id" in the place of such segments of paths
    def initialize(fold_ids: false)
      @fold_ids = fold_ids
    end

    # @param text [String] a line, in UTF-8
    # @return [Entry]
    # @raise [Bad]
    def read(text)
      line = JSON.parse(text, max_nesting: 32)
      raise Bad unless line.is_a?(Hash) && line["report"].is_a?(Hash)
      Entry.new(seen_at_s: time(line["time"]), violation: violation(line["report"], line["user_agent"]))
    rescue JSON::JSONError, EncodingError
      raise Bad
    end

    private

    def time(text)
      parts = text.is_a?(String) && TIME.match(text) or raise Bad
      Time.utc(*parts.captures.map(&:to_i)).to_i
    rescue ArgumentError
      raise Bad
    end

    def violation(report, user_agent)
      if (body = report["csp-report"]).is_a?(Hash)
        made(body, CSP_REPORT, user_agent, nil)
      elsif report["type"] == "csp-violation" && (body = report["body"]).is_a?(Hash)
        made(body, REPORTS, report["user_agent"], report["url"])
      end
    end

    def made(body, names, user_agent, url)
      value = ->(what) { names.fetch(what).lazy.filter_map { |name| text(body[name]) }.first }
      directive = directive(value.call(:directive))
      blocked = value.call(:blocked)
      Violation.new(directive:, host: host(blocked), path: path(value.call(:document) || text(url)),
        browser: Browser.family(text(user_agent)), noise: Noise.kind(blocked, value.call(:source), directive))
    end

    # A report may hold anything anywhere, halves of surrogate pairs included.
    def text(value) = (value.scrub if value.is_a?(String) && !value.empty?)

    # Older browsers give the directive with all its values.
    def directive(text) = DIRECTIVES.fetch(text.to_s[/\A\s*([a-z-]{1,40})/, 1], "(unknown)")

    def host(blocked)
      return "(none)" unless blocked
      if (address = ADDRESS.match(blocked))
        name = address[1].downcase
        (name.bytesize <= 253 && HOST.match?(name)) ? name : "(invalid)"
      else
        word = blocked[/\A[^:]{1,40}/].to_s.downcase
        return "(invalid)" unless WORD.match?(word) || word.match?(/\A[a-z][a-z0-9+.-]*\z/)
        blocked.include?(":") ? "#{word}:" : word
      end
    end

    def path(document)
      address = document && ADDRESS.match(document) or return "(none)"
      path = address[2].gsub(UNSHOWABLE, "\uFFFD")
      path = "/" unless path.start_with?("/")
      path = path.split("/", -1).map { |segment| ID.match?(segment) ? ":id" : segment }.join("/") if @fold_ids
      (path.length > PATH_LIMIT) ? "#{path[0, PATH_LIMIT - 1]}…" : path
    end
  end
end
