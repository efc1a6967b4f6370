# frozen_string_literal: true

# Runs once inside the application: gives the API a client, and tells which values its requests may have.

require "json"

KEY = "a key that only this machine knows".tr(" ", "-")

user = Spree.user_class.order(:id).first
user.update!(spree_api_key: KEY)
user.spree_roles << Spree::Role.find_or_create_by!(name: "admin") unless user.has_spree_role?("admin")

# A service that is in use has more than two orders to list.
Spree::Store.default
variants = Spree::Variant.where(is_master: false).order(:id).limit(120).to_a
variants = Spree::Variant.order(:id).limit(120).to_a if variants.empty?
address = Spree::Address.order(:id).first
60.times do |index|
  order = Spree::Order.create!(user:, email: user.email, store: Spree::Store.default, number: "R5#{format("%08d", index)}", bill_address: address, ship_address: address)
  variants.each_slice(3).to_a[index % 40].each { |variant| order.contents.add(variant, 1 + index % 3) }
end

# Few enough that what the app caches of each is soon there.
VALUES = 30
ids = ->(model) { model.order(:id).limit(VALUES).pluck(:id) }
values = {
  "product" => ids.call(Spree::Product), "variant" => ids.call(Spree::Variant), "taxonomy" => ids.call(Spree::Taxonomy), "order" => Spree::Order.order(:id).limit(VALUES).pluck(:number),
  "option_type" => ids.call(Spree::OptionType), "option_value" => ids.call(Spree::OptionValue), "property" => ids.call(Spree::Property), "zone" => ids.call(Spree::Zone),
  "country" => Spree::State.distinct.limit(VALUES).pluck(:country_id).sort, "state" => ids.call(Spree::State), "stock_location" => ids.call(Spree::StockLocation), "store" => ids.call(Spree::Store),
  "user" => ids.call(Spree.user_class), "inventory_unit" => ids.call(Spree::InventoryUnit), "page" => (1..8).to_a, "per_page" => [2, 4, 6], "word" => %w[tote cap mug hat hoodie ember maple],
  "shipment" => Spree::Shipment.order(:id).pluck(:number)
}
File.write("values.json", JSON.generate(values))
puts "#{Spree::Order.count} orders; #{values.transform_values(&:size)}"
