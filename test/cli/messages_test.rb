# frozen_string_literal: true

require "test_helper"

# What a person is told whose command can't be carried out: the cause, with the value that is wrong, then what to do.
class MessagesTest < TunerTest
  include PumaTuner

  # @param words [Array<String>] after `puma_tuner`
  # @return [PumaTuner::Error] what ends the command
  def error_of(*words)
    command, rest = CLI::Commands.find(words)
    assert_raises(UsageError, MeasurementFailed, words.join(" ")) { command.new(out: StringIO.new, err: StringIO.new).call(**command.parse(rest).except(:verbose)) }
  end

  def message_of(*words) = error_of(*words).message

  # @param files [Hash{String => String}] what is in the folder that the block runs in
  def in_folder(files = {})
    Dir.mktmpdir do |folder|
      files.each { |name, text| File.write(File.join(folder, name), text) }
      Dir.chdir(folder) { yield folder }
    end
  end

  WRONG_VALUES = {
    %w[load http://127.0.0.1:9 --rate 5 --arrivals odd] => "--arrivals odd: choose poisson or even",
    %w[load http://127.0.0.1:9 --think 1 --rate 5] => "--think belongs to a closed loop, --rate to an open one; leave one out",
    %w[load http://127.0.0.1:9 --data users.csv] => "--data needs a file of requests to fill in; name one with --requests",
    %w[load http://127.0.0.1:9 --reuse 5] => "--reuse 5: write the fewest and the most requests over one connection, such as 1:100",
    ["load", "http://a b"] => '"http://a b" is not a URL; give one such as http://127.0.0.1:9292',
    %w[load http://127.0.0.1/articles] => "load can't be sent to http://127.0.0.1/articles; give a URL without a path, such as http://127.0.0.1:9292",
    %w[profile --request / --outliers config.ru] => "--request and --outliers can't be combined; leave one out",
    %w[profile --token secret config.ru] => "--token works with --url only; add --url, or leave out --token",
    %w[profile --with perf --request / config.ru] => "perf profiles whole processes from outside, and can't do --request; choose another profiler with --with",
    %w[profile --read nowhere.json] => "cannot read nowhere.json: there is no such file. Give the path of a profiler's own file.",
    %w[prove config.ru] => "a proof needs at least two variants, the baseline first. Possible ways to give them: --variant, --factor, --variants, --topologies, or two config.ru",
    %w[prove --topologies 1x0,1x1] => "a topology needs at least one thread",
    %w[prove --variant yjit=on] => "--variant yjit: write name:key=value,key=value. Known factors:",
    %w[prove --variant a:yjit] => "--variant …yjit: write key=value",
    %w[prove --variant a:yjit=maybe] => "yjit=maybe: write on or off",
    %w[prove --variant a:thread=3] => '"thread" is not a factor. Known factors:',
    %w[prove --factor yjit] => "--factor yjit: write key=value,value",
    %w[prove --topologies 1x1,1x2 --primary speed] => "--primary speed: choose one of throughput, p50",
    %w[prove --topologies 1x1,1x2 --variant a:yjit=on] => "--variant and --topologies both say what is compared; leave one out",
    %w[prove --variants v.rb --factor yjit=on,off] => "--factor and --variants both say what is compared; leave one out",
    %w[prove --topologies 1x1,1x2 --rounds 8 --looks 10,20] => "--rounds and --looks both say how many rounds there are; leave one out",
    %w[top --listen tcp://127.0.0.1:9000] => "--listen says where --web is served; add --web, or leave it out",
    %w[top --web --output o.json] => "--output is for key n of the screen, which --web does not have; leave one out",
    %w[top --once --output o.json] => "--output is for key n of the screen, which --once does not have; leave one out",
    %w[top --json --output o.json] => "--output is for key n of the screen, which --json does not have; leave one out",
    %w[model o.json --output config.ru] => "cannot write config.ru: by its name it holds Ruby, which a result would take the place of. Give another place.",
    %w[tradeoff yjit,speed] => "unknown subject speed; choose from yjit, malloc, gc",
    %w[fleet --a yjit=off] => %("yjit=off" is not a selector; write labels as in PromQL: '{yjit="off"}'),
    ["fleet", "--a", '{a="b"}', "--window", "100d"] => "--window 100d: write at most 90d",
    ["fleet", "--a", '{a="b"}', "--source", "all"] => "--source all: choose one of auto, rules, raw",
    %w[requests --from access.log --methods FETCH] => "--methods FETCH: choose from GET,",
    %w[completion tcsh] => 'no completion for "tcsh"; choose one of bash, zsh, fish',
    %w[report config.ru] => "config.ru is not a document that this version can read: it is not JSON, or it is cut short. Make it again with",
    %w[report config.ru --format pdf] => "config.ru is not a document"
  }.freeze

  test "a wrong value is named, with what to write instead" do
    in_folder("config.ru" => "run ->(_) { [200, {}, []] }\n") do
      WRONG_VALUES.each do |words, message|
        error = error_of(*words)
        assert_kind_of UsageError, error, words.inspect
        assert_operator error.message, :start_with?, message, words.inspect
      end
    end
  end

  VARIANTS = {
    "" => "variants.rb declares no variant; write: variant \"name\", yjit: \"on\"",
    "variant \"a\", yjit: \"on\"\nvariant \"a\", yjit: \"off\"\n" => "two variants are called \"a\"; give each its own name",
    "variant(" => "variants.rb can't be understood: ",
    "variant \"a\", yjit: ENV.fetch(\"NOT_SET\")\n" => "variants.rb can't be understood: key not found: \"NOT_SET\"",
    "require \"not_there\"\n" => "variants.rb can't be understood: cannot load such file -- not_there",
    "variant \"a\", yjit: \"perhaps\"\n" => "yjit=perhaps: write on or off"
  }.freeze

  test "a file of variants that can't be used is named with its fault" do
    VARIANTS.each do |text, message|
      in_folder("variants.rb" => text) { assert_operator message_of(*%w[prove --variants variants.rb]), :start_with?, message }
    end
  end

  BLOCKS = {
    "" => "there is no block in it; write: block(\"name\") { … }",
    "block(\"a\")" => "block(\"a\") has nothing to run; write: block(\"a\") { … }",
    "block(\"a\") { }; block(\"a\") { }" => "two blocks are called \"a\", in lines 1 and 1; give each its own name"
  }.freeze

  test "a file of blocks that can't be used is named with its fault" do
    declarations = lambda do |text|
      in_folder("blocks.rb" => text) { |folder| Block::Declarations.of(File.join(folder, "blocks.rb")).find(nil) }
    ensure
      TOPLEVEL_BINDING.receiver.singleton_class.remove_method(:block)
    end
    BLOCKS.each { |text, message| assert_equal message, assert_raises(UsageError, text) { declarations.call(text) }.message }
    several = "block(\"a\") { }; block(\"b\") { }"
    assert_equal 'it has several blocks, and none was chosen; the file declares "a", "b"', assert_raises(UsageError) { declarations.call(several) }.message
  end

  test "a place that can't be written to is named" do
    error = assert_raises(UsageError) { Document.write(Unknown.of(:traces, :sampled), "/proc/nowhere.json") }
    assert_match(%r{\Acannot write /proc/nowhere\.json: .*Give another place\.\z}, error.message)
  end
end
