Rails.application.routes.draw do
  get "up" => "rails/health#show", :as => :rails_health_check

  root "home#show"
  resources :books, only: %i[index show new edit create update]
  resources :authors, only: %i[index show]
  resource :search, only: :show

  namespace :api, defaults: {format: :json} do
    resources :books, only: %i[index show]
  end
end
