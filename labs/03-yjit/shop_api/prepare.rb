# frozen_string_literal: true

# Runs once inside the application: gives the API a client, and tells which values its requests may have.

require "json"

KEY = "a-key-that-only-this-machine-knows"

user = Spree.user_class.order(:id).first
user.update!(spree_api_key: KEY)
user.spree_roles << Spree::Role.find_or_create_by!(name: "admin") unless user.has_spree_role?("admin")

# A service that is in use has more than two orders to list.
address = Spree::Address.order(:id).first
variants = Spree::Variant.order(:id).limit(40).to_a
60.times do |index|
  order = Spree::Order.create!(user:, email: user.email, store: Spree::Store.default, number: "R5#{format("%08d", index)}", bill_address: address, ship_address: address)
  order.contents.add(variants[index % variants.size], 1 + index % 3)
end

# Few enough that what the app caches of each is soon there.
VALUES = 30
ids = ->(model) { model.order(:id).limit(VALUES).pluck(:id) }
# Those with sizes and colours take ten times as long as most: one answer in many would be all of p99.
# They are asked for with left_out.txt alone.
large = Spree::Variant.where(is_master: false).select(:product_id)
products = Spree::Product.where.not(id: large).order(:id).limit(VALUES)
values = {
  "product" => products.pluck(:id), "variant" => ids.call(Spree::Variant), "taxonomy" => ids.call(Spree::Taxonomy), "order" => Spree::Order.order(:id).limit(VALUES).pluck(:number),
  "option_type" => ids.call(Spree::OptionType), "option_value" => ids.call(Spree::OptionValue), "property" => ids.call(Spree::Property), "zone" => ids.call(Spree::Zone),
  "country" => Spree::State.distinct.limit(VALUES).pluck(:country_id).sort, "state" => ids.call(Spree::State), "stock_location" => ids.call(Spree::StockLocation), "store" => ids.call(Spree::Store),
  "user" => ids.call(Spree.user_class), "inventory_unit" => ids.call(Spree::InventoryUnit), "page" => (1..8).to_a, "per_page" => [2, 3], "word" => %w[tote cap mug hat hoodie ember maple],
  "shipment" => Spree::Shipment.order(:id).pluck(:number),
  "large_product" => Spree::Product.where(id: large).order(:id).limit(VALUES).pluck(:id), "large_page" => [25, 50]
}
File.write("values.json", JSON.generate(values))
puts "#{Spree::Order.count} orders; #{values.transform_values(&:size)}"
