class Book < ApplicationRecord
  PER_PAGE = 20

  belongs_to :author
  has_and_belongs_to_many :categories
  has_many :reviews, dependent: :destroy

  validates :title, :isbn, presence: true
  validates :price_cents, :pages, numericality: {greater_than: 0}

  scope :newest, -> { order(published_on: :desc, id: :desc) }
  scope :matching, ->(words) {
    words.split.reduce(all) do |books, word|
      pattern = "%#{sanitize_sql_like(word)}%"
      books.where("books.title LIKE :pattern OR books.summary LIKE :pattern", pattern:)
    end
  }

  def self.page(number) = limit(PER_PAGE).offset((number - 1) * PER_PAGE)

  # Others that share most categories with this one.
  def related(count = 4)
    Book.joins(:categories).where(categories: {id: category_ids}).where.not(id:)
      .group(:id).order(Arel.sql("COUNT(*) DESC, books.id")).limit(count).includes(:author)
  end

  def rating = reviews_count.zero? ? nil : ratings_sum.fdiv(reviews_count)
end
