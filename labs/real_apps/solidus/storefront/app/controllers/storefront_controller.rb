# frozen_string_literal: true

# What Solidus expects of a storefront: store, prices, search and the visitor's token come from its own helpers.
class StorefrontController < ActionController::Base
  include ActiveStorage::SetCurrent
  include Spree::Core::ControllerHelpers::Auth
  include Spree::Core::ControllerHelpers::Pricing
  include Spree::Core::ControllerHelpers::Search
  include Spree::Core::ControllerHelpers::Store

  helper Spree::ProductsHelper
  layout "storefront"
  before_action { @taxonomies = Spree::Taxonomy.order(:position).includes(root: :children) }
  rescue_from(ActiveRecord::RecordNotFound) { head :not_found }

  private

  def search(**conditions)
    build_searcher(params.merge(include_images: true, **conditions)).retrieve_products
      .preload(master: {images: Spree::Image.attachment_preloads})
  end
end
