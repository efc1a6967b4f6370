class Api::BooksController < ActionController::API
  def index
    @books = Book.newest.includes(:author, :categories).page([params[:page].to_i, 1].max)
  end

  def show
    @book = Book.includes(:author, :categories, :reviews).find(params.expect(:id))
    fresh_when @book
  end
end
