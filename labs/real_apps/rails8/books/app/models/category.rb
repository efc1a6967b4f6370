class Category < ApplicationRecord
  has_and_belongs_to_many :books

  def to_param = slug
end
