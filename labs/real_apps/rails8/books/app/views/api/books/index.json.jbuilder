json.array! @books, partial: "api/books/book", as: :book
