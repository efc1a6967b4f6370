# frozen_string_literal: true

module CspCollector
  # The family of a browser, by what it calls itself.
  module Browser
    UNKNOWN = "(unknown)"

    # The first that fits: nearly all call themselves Mozilla, and those built on Chrome and Safari also Chrome and Safari.
    FAMILIES = {
      /bot\b|bot[\/;]|crawler|spider|headless/i => "Bot",
      %r{\bEdg(?:e|A|iOS)?/} => "Edge",
      %r{\b(?:OPR|OPiOS|Opera)/|\bOpera\b} => "Opera",
      %r{\bSamsungBrowser/} => "Samsung Internet",
      %r{\bYaBrowser/} => "Yandex",
      %r{\bUCBrowser/} => "UC Browser",
      %r{\b(?:Firefox|FxiOS)/} => "Firefox",
      %r{\bChrom(?:e|ium)/|\bCriOS/} => "Chrome",
      %r{\bVersion/[\d.]+.*\bSafari/} => "Safari",
      %r{\bMSIE |\bTrident/} => "Internet Explorer",
      %r{\bAppleWebKit/} => "WebKit view"
    }.freeze

    # @param user_agent [String, nil]
    # @return [String]
    def self.family(user_agent)
      return UNKNOWN if user_agent.nil? || user_agent.empty?
      FAMILIES.each { |pattern, name| return name if pattern.match?(user_agent) }
      "Other"
    end
  end
end
