class CreateCatalogue < ActiveRecord::Migration[8.1]
  def change
    create_table :authors do |t|
      t.string :name, null: false
      t.text :biography
      t.timestamps
    end

    create_table :categories do |t|
      t.string :name, null: false
      t.string :slug, null: false, index: {unique: true}
      t.timestamps
    end

    create_table :books do |t|
      t.references :author, null: false, foreign_key: true
      t.string :title, null: false
      t.string :isbn, null: false, index: {unique: true}
      t.text :summary
      t.date :published_on, null: false, index: true
      t.integer :pages, null: false
      t.integer :price_cents, null: false
      t.integer :reviews_count, null: false, default: 0
      t.integer :ratings_sum, null: false, default: 0
      t.timestamps
    end

    create_join_table :books, :categories do |t|
      t.index [:book_id, :category_id], unique: true
      t.index [:category_id, :book_id]
    end

    create_table :reviews do |t|
      t.references :book, null: false, foreign_key: true
      t.string :reviewer, null: false
      t.integer :rating, null: false
      t.text :body
      t.timestamps
    end
  end
end
