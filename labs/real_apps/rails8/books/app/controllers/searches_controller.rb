class SearchesController < ApplicationController
  def show
    @words = params[:q].to_s.strip
    books = @words.empty? ? Book.none : Book.matching(@words)
    @count = books.count
    @books = books.newest.includes(:author, :categories).page(page)
  end
end
