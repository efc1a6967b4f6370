# frozen_string_literal: true

Rails.application.routes.draw do
  root "products#index"
  resources :products, only: %i[index show]
  get "t/*permalink", to: "taxons#show", as: :taxon

  mount Spree::Core::Engine, at: "/"
end
