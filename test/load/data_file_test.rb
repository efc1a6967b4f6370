# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class DataFileTest < TunerTest
  DataFile = PumaTuner::Load::DataFile

  def read(bytes, by: DataFile)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "data.csv")
      File.binwrite(path, bytes)
      by.read(path)
    end
  end

  def complaint(bytes, **by) = assert_raises(PumaTuner::UsageError) { read(bytes, **by) }.message[/line \d+: .*(?=\. The format)/m]

  test "names its columns in the first line, and has a value for each in the others" do
    data = read("\xEF\xBB\xBFuser, full name\nada,\"Ada, \"\"L\"\"\"\n\ngrace,\n")
    assert_equal ["user", "full name"], data.columns
    assert_equal [{"user" => "ada", "full name" => 'Ada, "L"'}, {"user" => "grace", "full name" => ""}], data.rows
    assert_predicate data.rows, :frozen?
  end

  test "takes line ends of both kinds, and those within quotation marks" do
    assert_equal [{"a" => "1\n2"}, {"a" => "3"}], read("a\r\n\"1\n2\"\r\n3\r\n").rows
  end

  test "names the line that can't be used" do
    {
      "" => /line 1: it holds no values/, "a,b\n" => /line 1: it holds no values/, "a,\n1,2\n" => /line 1: a column has no name/,
      "a,b,a\n1,2,3\n" => /line 1: the column a is there twice/, "a,b\n1,2\n1\n" => /line 3: it has 1 values for 2 columns/,
      "a\n\"1\n" => /line 2: Unclosed quoted field/, "a\n\xFF\n" => /line 2: it is not UTF-8 text/
    }.each { |bytes, said| assert_match said, complaint(bytes), bytes.inspect }
  end

  # A hundred thousand rows take seconds to read: the same is read with a smaller limit.
  test "takes no more rows than memory should hold" do
    assert_equal 100_000, DataFile::ROWS_MAX
    by = Class.new(DataFile) { const_set(:ROWS_MAX, 1_000) }
    assert_equal 1_000, read("a\n#{"1\n" * 1_000}", by:).rows.size
    assert_match(/line 1002: there are more than 1000 rows/, complaint("a\n#{"1\n" * 1_001}", by:))
    assert_equal 1_001, read("a\n#{"1\n" * 1_001}").rows.size
  end

  test "a file of more bytes than memory should hold is refused before its rows are" do
    error = assert_raises(PumaTuner::UsageError) { DataFile.read("/dev/zero") }
    assert_equal "/dev/zero has more than 256 MiB; leave out some of its rows or columns", error.message
  end

  test "says how to fix a file that can't be read" do
    error = assert_raises(PumaTuner::UsageError) { DataFile.read("/nowhere/data.csv") }
    assert_match(/cannot read \/nowhere\/data\.csv: No such file.*CSV file/, error.message)
  end
end
