# frozen_string_literal: true

require "test_helper"
require "cgi"
require "json"
require "support/profiles"

class ReportHtmlFlameGraphTest < TunerTest
  include Profiles

  GEMS = {"Puma" => "puma-8.0.2", "Rack" => "rack-3.1.8", "ActionPack" => "actionpack-8.0.1",
          "ActiveRecord" => "activerecord-8.0.1", "Git" => "nice_gem-0a1b2c3d4e5f"}.freeze

  # What a class is called says whose it is: of a gem above, Ruby's ("C"), or the app's.
  def own(paths)
    names = paths.flat_map { |path| path.split(" > ") }.uniq
    names.to_h do |name|
      owner = name[/\w+/]
      gem = GEMS[owner] and next [name, "/usr/lib/ruby/gems/3.4.0/gems/#{gem}/lib/x.rb"]
      [name, (owner == "C") ? nil : "/app/#{owner.downcase}.rb"]
    end
  end

  # @param stacks [Hash{String => Integer}] ms by path
  def graph(stacks)
    list = stacks.map { |path, ms| stack(path, ms * 1_000_000, own: own(stacks.keys)) }
    PumaTuner::Report::Html::FlameGraph.new(costs(samples(list:)))
  end

  # @return [Array<Array(Integer, String)>] what is seen while everything is folded
  def seen(graph) = graph.boxes.reject(&:inside).map { |box| [box.row, box.name] }

  RAILS = "Puma.handle > Rack.call > ActionPack.call > ActiveRecord.migrate"

  test "it begins at the app's code, and what leads there is one box with the whole" do
    graph = graph("#{RAILS} > Orders#index > Order.all" => 100)
    assert_equal [[0, "everything, through 4 frames of rails, puma and rack"], [1, "Orders#index"], [2, "Order.all"]],
      seen(graph)
    assert_equal [1, 2, 3, 4], graph.boxes.select(&:inside).map(&:depth)
    assert_equal 3 * PumaTuner::Report::Html::FlameGraph::ROW_HEIGHT, graph.height
  end

  test "frames of gems and Ruby between the app's, and below them, are folded, and a single one is not" do
    graph = graph("Puma.handle > Orders#index > ActiveRecord.each > C.yield > Order#total > C.sum" => 60,
      "Puma.handle > Orders#index > ActiveRecord.all > ActiveRecord.load > C.exec" => 40)
    assert_equal [[0, "everything, through 1 frame of puma"], [1, "Orders#index"], [2, "activerecord, 2 frames"],
      [3, "Order#total"], [4, "C.sum"], [2, "activerecord, 3 frames"]], seen(graph)
  end

  test "what leads to the app's code and what does not are folded apart" do
    graph = graph("Puma.handle > Rack.call > Orders#index" => 80, "Puma.handle > Rack.call > Rack.log > C.write" => 20)
    assert_equal [[0, "everything, through 2 frames of puma and rack"], [1, "Orders#index"], [1, "rack, 2 frames"]],
      seen(graph)
  end

  test "a box keeps its place from left to right, and a fold has that of its first frame" do
    graph = graph("Puma.handle > Orders#index > ActiveRecord.all > ActiveRecord.load" => 75,
      "Puma.handle > Orders#show" => 25)
    boxes = graph.boxes.to_h { |box| [box.name, [box.left, box.width]] }
    assert_equal [0.0, 75.0], boxes.fetch("ActiveRecord.all")
    assert_equal [0.0, 75.0], boxes.fetch("activerecord, 2 frames")
    assert_equal [75.0, 25.0], boxes.fetch("Orders#show")
  end

  test "a fold stands before its frames, and tells gems, share and where it begins" do
    boxes = graph("Orders#index > Git.all > ActiveRecord.all > C.exec" => 30, "Orders#index" => 70).boxes
    fold = boxes.index(&:fold)
    assert_equal [boxes[fold].fold] * 3, boxes[fold + 1, 3].map(&:inside)
    assert_equal ["activerecord and nice_gem, 3 frames", "activerecord 1, nice_gem 1, Ruby 1, from Git.all on",
      "30.0% in all, 30.0% by themselves, 300 µs/request"], boxes[fold].title.split(" · ")
    assert_equal :gem, boxes[fold].owner
  end

  test "nothing is folded where no method is the app's" do
    graph = graph("Puma.handle > Rack.call > C.exec" => 100)
    refute_predicate graph, :folds?
    assert_equal ["everything", "Puma.handle", "Rack.call", "C.exec"], graph.boxes.map(&:name)
  end

  test "many gems are not all named, and Ruby is where there is nothing else" do
    four = graph("Puma.a > Rack.a > Git.a > ActiveRecord.a > Orders#index" => 1)
    assert_equal "everything, through 4 frames of activerecord, nice_gem and 2 more", four.boxes.first.name
    assert_includes seen(graph("Orders#index > C.map > C.dig" => 1)).map(&:last), "C.map, 2 frames"
  end

  test "what is folded is no element of the page, but numbers for the script" do
    list = [stack("#{RAILS} > Orders#index", 1_000_000, own: own([RAILS, "Orders#index"]))]
    page = PumaTuner::Report.render(costs(samples(list:)), format: :html)
    assert_equal 2, page[%r{<svg class="flame".*?</svg>\s*</svg>}m].scan("<rect").size
    words, boxes = JSON.parse(CGI.unescapeHTML(page[/data-boxes="([^"]+)"/, 1]))
    assert_equal ["everything, through 4 frames of rails, puma and rack", "Puma.handle", "Rack.call", "ActionPack.call",
      "ActiveRecord.migrate", "Orders#index"], boxes.map { |box| words[box[4]].split(" · ").first }
    assert_equal [-1, 0, 0, 0, 0, -1], boxes.map(&:last)
  end

  test "no graph is drawn without any cost" do
    refute_predicate graph("Orders#index" => 0), :any?
  end
end
