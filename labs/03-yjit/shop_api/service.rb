# frozen_string_literal: true

# Read after Solidus' and the storefront's own. The client of the API shows its key, and may see everything.
Spree::Api::Config.requires_authentication = true

# RUBY_YJIT_ENABLE decides, and not Rails.
Rails.application.config.yjit = false
