# frozen_string_literal: true

class TaxonsController < StorefrontController
  def show
    @taxon = Spree::Taxon.find_by!(permalink: params[:permalink])
    @products = search(taxon: @taxon.id)
  end
end
