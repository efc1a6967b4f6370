# frozen_string_literal: true

require "test_helper"
require "support/locked_gems"
require "tmpdir"

# Files are loaded when somebody asks for their constants, which PumaTuner.autoload_folder knows by the files' names.
class AutoloadTest < TunerTest
  Places = Module.new

  # In a process of its own, as all that there is stays loaded.
  LOAD_ALL = <<~RUBY
    require "puma_tuner"
    name_of = Module.instance_method(:name) # a few have a method of that name for something else
    seen = [PumaTuner]
    seen.each do |namespace|
      namespace.constants(false).each do |name|
        one = namespace.const_get(name, false)
        seen << one if one.is_a?(Module) && name_of.bind_call(one).to_s.start_with?("PumaTuner::") && !seen.include?(one)
      end
    end
    puts "loaded"
  RUBY

  test "each constant is in the file that it is asked for in" do
    output = IO.popen([LockedGems.environment, RbConfig.ruby, "-e", LOAD_ALL, {err: %i[child out]}], &:read)
    assert_equal "loaded\n", output
  end

  test "a file has a constant of its name, or those that are told of it" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "one_thing.rb"), "module AutoloadTest::Places; OneThing = 1; end")
      File.write(File.join(folder, "others.rb"), "module AutoloadTest::Places; That = 2; This = 3; end")
      PumaTuner.autoload_folder(Places, folder, others: %i[That This])
      assert_equal %i[OneThing That This], Places.constants.sort
      assert_equal [1, 2, 3], [Places::OneThing, Places::That, Places::This]
    end
  end
end
