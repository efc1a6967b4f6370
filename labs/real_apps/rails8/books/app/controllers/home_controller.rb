class HomeController < ApplicationController
  def show
    @newest = Book.newest.includes(:author).limit(8)
  end
end
