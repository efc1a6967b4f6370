class BooksController < ApplicationController
  before_action :set_book, only: %i[show edit update]

  def index
    books = params[:category] ? Category.find_by!(slug: params[:category]).books : Book.all
    @count = books.count
    @books = books.newest.includes(:author, :categories).page(page)
  end

  def show
  end

  def new
    @book = Book.new
  end

  def edit
  end

  def create
    @book = Book.new(book_params)
    if @book.save
      redirect_to @book, notice: "Book was successfully created."
    else
      render :new, status: :unprocessable_content
    end
  end

  def update
    if @book.update(book_params)
      redirect_to @book, notice: "Book was successfully updated.", status: :see_other
    else
      render :edit, status: :unprocessable_content
    end
  end

  private

  def set_book
    @book = Book.find(params.expect(:id))
  end

  def book_params
    params.expect(book: [:title, :isbn, :author_id, :summary, :published_on, :pages, :price_cents, category_ids: []])
  end
end
