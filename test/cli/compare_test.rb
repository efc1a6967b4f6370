# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command_line"
require "tmpdir"
require "zlib"

class CompareCommandTest < TunerTest
  include CommandLine

  # @return [String] an hour of nginx' log, a request each second
  def log(day, random, factor: 1)
    Array.new(3_600) { |second|
      took_s = (0.02 + 0.01 * random.rand) * factor
      at = Time.utc(2026, 3, day, 10) + second
      format('192.0.2.1 - - [%s] "GET /articles/%d?token=s3cret HTTP/1.1" %d 2326 "-" "curl/8.5" %.3f %.3f', at.strftime("%d/%b/%Y:%H:%M:%S +0000"), second, (second % 400 == 9) ? 500 : 200, took_s + 0.001, took_s)
    }.join("\n") << "\n"
  end

  def in_folder
    Dir.mktmpdir do |folder|
      random = Random.new(1)
      File.write(File.join(folder, "before.log"), log(2, random))
      File.binwrite(File.join(folder, "after.log.gz"), Zlib.gzip(log(3, random, factor: 1.5)))
      yield folder
    end
  end

  test "two logs become a comparison, as text, HTML and JSON, without anybody's values" do
    in_folder do |folder|
      result = puma_tuner("compare", "before.log", "after.log.gz", "--verbose", "--html", "x.html", "--output", "x.json", folder:)
      assert_equal 0, result.code, result.err
      assert_match(%r{GET /articles/:id +3,591 → 3,591 +mean +25\.\d ms +37\.\d ms +\+\d\d% +1\.\d+x \([\d.–]+\) +worse}, result.out)
      assert_match(/repeat puma_tuner compare before\.log after\.log\.gz --top 10 --seed 1/, result.unwrapped)
      mean = JSON.parse(File.read(File.join(folder, "x.json"))).fetch("rows").first
      assert_in_delta 1.5, mean.fetch("adjusted").fetch("value"), 0.02
      assert_equal "worse", mean.fetch("outcome")
      assert_includes File.read(File.join(folder, "x.html")), "before.log against after.log.gz"
      refute_match(/s3cret/, result.out + File.read(File.join(folder, "x.html")))
    end
  end

  test "files may be called in any language, where the locale knows none" do
    in_folder do |folder|
      File.rename(File.join(folder, "before.log"), File.join(folder, "journée.log"))
      result = puma_tuner("compare", "journée.log", "after.log.gz", folder:, environment: {"LC_ALL" => "C"})
      assert_equal 0, result.code, result.err
      assert_includes result.out, "journée.log"
    end
  end

  test "a pipe is read as a file is, packed or not" do
    in_folder do |folder|
      results = [%w[before.log -], %w[- after.log.gz]].zip(%w[after.log.gz before.log]).map do |words, piped|
        out, _, status = Open3.capture3(LockedGems.environment, RbConfig.ruby, EXECUTABLE, "compare", *words, "--output", "-", chdir: folder, stdin_data: File.binread(File.join(folder, piped)), binmode: true)
        assert_equal 0, status.exitstatus
        JSON.parse(out).fetch("rows").first.values_at("a", "b")
      end
      assert_equal(*results)
    end
  end

  test "the app's own names of endpoints are taken from the file that tells the probe" do
    in_folder do |folder|
      File.write(File.join(folder, "names.rb"), 'PumaTuner.group_endpoints { |env| "odd ones" if env["PATH_INFO"].match?(/[13579]\z/) }')
      result = puma_tuner("compare", "before.log", "after.log.gz", "--grouping", "names.rb", folder:)
      assert_match(/odd ones +1,791 → 1,791/, result.out)
      assert_match(%r{GET /articles/:id +1,800 → 1,800}, result.out)
    end
  end

  test "mistakes are answered with what to do" do
    in_folder do |folder|
      File.write(File.join(folder, "plain.log"), %(192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 2326 "-" "curl"\n))
      File.write(File.join(folder, "words.txt"), "nothing\n")
      File.write(File.join(folder, "rails.rb"), "Rails.application")
      File.write(File.join(folder, "short.log"), log(4, Random.new(2)).lines.first(3).join)
      {
        %w[before.log] => /AFTER is missing/, %w[before.log before.log] => /are the same log/, %w[- -] => /are the same log/, %w[before.log nowhere.log] => /cannot read nowhere\.log/, %w[before.log .] => /cannot read \./,
        %w[before.log words.txt] => /in no format that is known/, %w[before.log plain.log] => /plain\.log tells no times: nginx writes them where/, %w[before.log after.log.gz --log-format iis] => /unknown log format "iis"/,
        %w[before.log after.log.gz --seen-from moon] => /--seen-from moon: choose one of app, client/, %w[before.log after.log.gz --grouping nowhere.rb] => /--grouping nowhere\.rb: cannot load/,
        %w[before.log after.log.gz --grouping rails.rb] => /uninitialized constant Rails/, %w[before.log after.log.gz --grouping words.txt] => /--grouping words\.txt: undefined local variable/, %w[before.log after.log.gz --output /no/such/folder/x] => /no folder/,
        %w[before.log after.log.gz --top 0] => /--top 0/
      }.each { |words, pattern| assert_mistake pattern, puma_tuner_in_fork("compare", *words, folder:) }
      result = puma_tuner("compare", "before.log", "short.log", folder:)
      assert_equal 0, result.code, result.err
      assert_match(/Nothing is shown.*too little time in common/, result.unwrapped)
      assert_match(/too few requests/, result.out)
    end
  end
end
