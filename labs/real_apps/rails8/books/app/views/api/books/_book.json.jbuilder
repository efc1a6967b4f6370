json.extract! book, :id, :title, :isbn, :summary, :published_on, :pages, :price_cents, :reviews_count, :rating
json.author book.author, :id, :name
json.categories book.categories.map(&:name)
json.url api_book_url(book)
