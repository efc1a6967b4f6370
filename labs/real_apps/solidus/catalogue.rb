# frozen_string_literal: true

# Runs once inside the application: makes a shop of 252 products out of the 12 sample ones, so that lists have pages,
# a search has something to look through and taxons differ in size. All chance is one seeded Random.

EDITIONS = %w[Harbour Meadow Ember Granite Willow Cobalt Saffron Juniper Marble Tundra Copper Lagoon Orchid Quartz Maple
  Indigo Pebble Cedar Breeze Amber].freeze
REMARKS = ["Made in small numbers.", "Washed once before it leaves the house.", "A little lighter than the last one.",
  "Packed in paper, never in plastic.", "Drawn by hand, then printed.", "Comes with a spare button.",
  "Lasts longer than its warranty.", "Goes well with a notebook."].freeze
MOST_IN_STOCK = 30

random = Random.new(252)
originals = Spree::Product.order(:id).to_a

# Image sizes are otherwise made by the first request that shows them, and the first trial would do all that work.
ActiveJob::Base.queue_adapter = :inline
Spree::Image.find_each do |image|
  Spree::Image.attachment_definitions[:attachment][:styles].each_key { |style| image.attachment.variant(style) }
end

Spree::Product.transaction do
  EDITIONS.product(originals) do |edition, original|
    copy = original.duplicate
    name = "#{original.name} #{edition}"
    remarks = Array.new(1 + random.rand(6)) { REMARKS[random.rand(REMARKS.size)] }
    copy.update!(name: name, slug: name.parameterize, price: original.price + random.rand(-5..20),
      description: [original.description, *remarks].join(" "))
    copy.variants_including_master.each do |variant|
      variant.update!(sku: "#{variant.sku.delete_prefix("COPY OF ")}-#{edition.upcase}")
      Spree::StockItem.where(variant: variant).update_all(count_on_hand: random.rand(MOST_IN_STOCK))
    end
  end
end
puts "#{Spree::Product.count} products, #{Spree::Variant.count} variants"
