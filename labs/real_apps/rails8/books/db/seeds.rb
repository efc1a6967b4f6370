# 60 authors, 12 categories, 800 books and some 6,000 reviews. All chance is one seeded Random, so every machine has the same rows.
random = Random.new(81)
at = Time.utc(2026, 1, 1)

FIRST = %w[Ada Bela Cem Dora Emil Femi Greta Hugo Ines Jonas Kira Lena].freeze
LAST = %w[Abbey Brook Castle Dale Eaves].freeze
NOUNS = %w[Harbour Meadow Lantern Orchard Compass Ferry Archive Garden Railway Winter Letter Island Mirror Station Bridge].freeze
KINDS = %w[Silent Borrowed Northern Paper Hidden Last Crooked Distant Quiet Second].freeze
CATEGORIES = ["History", "Travel", "Cooking", "Poetry", "Science", "Nature", "Crime", "Music", "Gardening", "Art", "For Children", "Essays"].freeze
SENTENCES = ["It begins on a platform in the rain.", "Nobody had counted the letters before.", "The second half is told by somebody else.",
  "There are maps, and one of them is wrong.", "It was written in a kitchen, at night.", "Its recipes can all be cooked.",
  "The ending was changed for this edition.", "A long chapter on ferries is worth the price alone.", "It has notes, an index and a list of persons.",
  "The translation keeps the rhymes.", "Every chapter can be read by itself.", "The photographs are from the archive of the harbour."].freeze

text = ->(sentences) { Array.new(sentences) { SENTENCES.sample(random:) }.join(" ") }

ApplicationRecord.transaction do
  stamps = {created_at: at, updated_at: at}
  Author.insert_all!(FIRST.product(LAST).map { |name| {name: name.join(" "), biography: text.call(4), **stamps} })
  Category.insert_all!(CATEGORIES.map { |name| {name:, slug: name.parameterize, **stamps} })
  books = Array.new(800) do |index|
    {author_id: 1 + random.rand(60), title: "The #{KINDS.sample(random:)} #{NOUNS.sample(random:)} #{index + 1}",
     isbn: format("978-0-%06d-0", index), summary: text.call(3 + random.rand(10)), published_on: Date.new(1960, 1, 1) + random.rand(24_000),
     pages: 60 + random.rand(700), price_cents: 500 + random.rand(4_500), **stamps}
  end
  Book.insert_all!(books)
  Book.connection.select_values("SELECT id FROM books ORDER BY id").each_slice(100) do |ids|
    values = ids.flat_map { |id| (1..12).to_a.sample(1 + random.rand(3), random:).map { |category| "(#{id}, #{category})" } }
    Book.connection.execute("INSERT INTO books_categories (book_id, category_id) VALUES #{values.join(", ")}")
    reviews = ids.flat_map { |id| Array.new(random.rand(16)) { {book_id: id, reviewer: FIRST.sample(random:), rating: 1 + random.rand(5), body: text.call(1 + random.rand(6)), **stamps} } }
    Review.insert_all!(reviews)
  end
  Book.update_all(<<~SQL)
    reviews_count = (SELECT COUNT(*) FROM reviews WHERE reviews.book_id = books.id),
    ratings_sum = (SELECT COALESCE(SUM(rating), 0) FROM reviews WHERE reviews.book_id = books.id)
  SQL
end
puts "#{Author.count} authors, #{Book.count} books, #{Review.count} reviews"
