class Review < ApplicationRecord
  belongs_to :book, touch: true, counter_cache: true

  validates :rating, inclusion: {in: 1..5}
end
