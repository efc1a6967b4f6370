# frozen_string_literal: true

require "test_helper"

class TemplateTest < TunerTest
  Load = PumaTuner::Load

  def template(**parts) = Load::Template.new(Load::Request.new(path: "/", **parts))

  test "knows its names, each once" do
    assert_equal %w[a b c], template(path: "/{{a}}/{{ b }}", headers: {"X" => "{{a}}{{c}}"}, body: "{{b}}").names
    assert_empty template(body: "{{}} {x} {{\"json\": 1}}").names
  end

  test "encodes values in a path, and nowhere else" do
    filled = template(path: "/{{v}}?q={{v}}", headers: {"X" => "<{{v}}>"}, body: "[{{v}}]").filled("v" => "a/b ü?")
    assert_equal ["/a%2Fb%20%C3%BC%3F?q=a%2Fb%20%C3%BC%3F", "<a/b ü?>".b, "[a/b ü?]".b], [filled.path, filled.headers["X"].b, filled.body.b]
  end

  test "leaves bodies of bytes as they are" do
    assert_equal "\xFF\x00é\xFE".b, template(body: "\xFF\x00{{v}}\xFE".b).filled("v" => "é").body.b
  end

  test "leaves everything else of a request as it is" do
    request = Load::Request.new(path: "/{{v}}", weight: 3, http_method: "PUT", expected_statuses: [201], expected_text: "{{v}}")
    assert_equal request.with(path: "/1"), Load::Template.new(request).filled("v" => "1")
  end
end
