# frozen_string_literal: true

require "test_helper"
require "csv"
require "support/command_line"
require "tmpdir"

class RequestsCommandTest < TunerTest
  include CommandLine

  LINES = Array.new(40) { |i| format('192.0.2.1 - - [10/Oct/2026:13:55:%02d +0000] "GET /articles/%d?token=s3cret%d HTTP/1.1" 200 2326 "-" "curl"', i, i % 5, i) }

  def in_folder
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "access.log"), LINES.join("\n"))
      yield folder
    end
  end

  test "a log becomes a file of requests without anybody's values, and the instants" do
    in_folder do |folder|
      result = puma_tuner("requests", "--from", "access.log", "--instants", "arrivals.txt", folder:)
      assert_equal 0, result.code, result.err
      assert_match(/40 requests in 1 kind \(combined\)/, result.out)
      assert_match(/with the columns articles_id,token as --data/, result.out)
      assert_equal %w[access.log arrivals.txt tmp], Dir.children(folder).sort
      refute_match(/s3cret/, File.read(File.join(folder, "tmp/puma_tuner/requests.txt")))
      assert_equal 40, File.readlines(File.join(folder, "arrivals.txt")).size
    end
  end

  test "values go into a data file where they are asked for" do
    in_folder do |folder|
      assert_equal 0, puma_tuner("requests", "--from", "access.log", "--keep-values", folder:).code
      assert_equal 40, CSV.read(File.join(folder, "tmp/puma_tuner/requests.csv"), headers: true).map { |row| row["token"] }.uniq.size
    end
  end

  test "a log of more kinds than are kept says so" do
    in_folder do |folder|
      File.write(File.join(folder, "access.log"), Array.new(2_500) { |i| LINES.first.sub("/articles/0?token", "/s?k#{i.to_s.tr("0-9", "a-j")}") }.join("\n"))
      result = puma_tuner("requests", "--from", "access.log", folder:)
      assert_match(/2,500 requests in 1,500 kinds and \(other\) \(combined\)/, result.out)
      assert_match(/counted as \(other\): 1,000 of kinds too rare to be told apart/, result.out)
    end
  end

  test "mistakes are answered with what to do" do
    in_folder do |folder|
      assert_mistake(/which requests\? Name a server's log with --from, or take an app's routes with --routes/, puma_tuner_in_fork("requests", folder:))
      assert_mistake(/a log or the routes\?/, puma_tuner_in_fork("requests", "--from", "access.log", "--routes", folder:))
      assert_mistake(%r{--directory nowhere: there is no such folder}, puma_tuner_in_fork("requests", "--routes", "--directory", "nowhere", "--output", "requests.txt", folder:))
      assert_mistake(/cannot read nowhere/, puma_tuner_in_fork("requests", "--from", "nowhere", folder:))
      assert_mistake(/--methods TRACE: choose from GET/, puma_tuner_in_fork("requests", "--from", "access.log", "--methods", "trace", folder:))
      assert_equal ["access.log"], Dir.children(folder)
    end
  end
end
