class AuthorsController < ApplicationController
  def index
    @authors = Author.order(:name)
    @counts = Book.group(:author_id).count
  end

  def show
    @author = Author.find(params.expect(:id))
    @books = @author.books.newest.includes(:author, :categories)
  end
end
