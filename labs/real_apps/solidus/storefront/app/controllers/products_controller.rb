# frozen_string_literal: true

class ProductsController < StorefrontController
  RELATED = 4

  def index
    @products = search
  end

  def show
    @product = Spree::Product.available.friendly.find(params[:id])
    @images = @product.gallery.images
    @variants = @product.variants.includes(:prices, :stock_items, option_values: :option_type)
    @taxons = @product.taxons.to_a
    @related = related
  end

  private

  def related
    return [] if @taxons.empty?
    Spree::Product.available.in_taxon(@taxons.first).where.not(id: @product.id).limit(RELATED)
      .preload(master: [:prices, {images: Spree::Image.attachment_preloads}])
  end
end
