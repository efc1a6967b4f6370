# frozen_string_literal: true

module GraphqlToday
  FLAT = "{ articles { id title body url relatedArticles { id title body url } } }"

  PARENT = "{ articles { id title body url relatedArticles { id title body url parentArticle { id title body url } } } }"

  # A directive on every field.
  UNHELPED = FLAT.gsub(/\b\w+(?= )/) { |field| "#{field} @include(if: true)" }
end
