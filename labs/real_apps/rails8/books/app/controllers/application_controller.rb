class ApplicationController < ActionController::Base
  # As `rails new` writes it. A client that names no browser is let through.
  allow_browser versions: :modern

  before_action { @categories = Category.order(:name) }

  private

  def page = [params[:page].to_i, 1].max
end
