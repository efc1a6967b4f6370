# frozen_string_literal: true

module CspCollector
  # Violations that no change of the site would end: they come from what people have added to their browsers.
  module Noise
    NONE = ""

    EXTENSION = /\A(?:chrome|moz|ms-browser|safari|safari-web|webkit|opera|edge)-extension\b|\Awebkit-masked-url\b/i

    # What browsers have of their own.
    BROWSER = /\A(?:about|chrome|chromenull|chrome-search|resource|safari-resource|res|opera|edge|ms-appx|ms-appx-web|view-source)(?::|\z)/i

    # Schemes of the web, and the words that stand in the place of an address.
    SITE = /\A(?:https?|wss?|data|blob|filesystem|mediastream)(?::|\z)|\A(?:inline|eval|wasm-eval|self|trusted-types-policy|trusted-types-sink)\z/i

    # A scheme that no browser knows: of apps that show pages, of toolbars.
    SCHEME = /\A[a-z][a-z0-9+.-]*:/i

    RUNS_CODE = /\A(?:default|script|worker|object)-src/

    KINDS = %w[extension browser app injected].freeze

    # @param blocked [String, nil] what was blocked
    # @param source [String, nil] the file that wanted it
    # @param directive [String]
    # @return [String] one of KINDS, or NONE
    def self.kind(blocked, source, directive)
      [source, blocked].compact.each do |address|
        return "extension" if EXTENSION.match?(address)
        return "browser" if BROWSER.match?(address)
        return "app" if SCHEME.match?(address) && !SITE.match?(address)
      end
      # A site's own images and fonts are often data:, its code never is.
      return "injected" if source&.match?(/\Adata\b/i) || (blocked&.match?(/\Adata\b/i) && RUNS_CODE.match?(directive))
      NONE
    end
  end
end
