json.partial! "api/books/book", book: @book
json.reviews @book.reviews, :id, :reviewer, :rating, :body
