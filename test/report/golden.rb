# frozen_string_literal: true

# Output that is kept in files beside the tests. WRITE_GOLDEN=1 rewrites them; the diff is then to be read.
module Golden
  FOLDER = File.join(__dir__, "golden")

  # @param name [String] the file
  # @param text [String] the output
  def assert_golden(name, text)
    path = File.join(FOLDER, name)
    File.write(path, text) if ENV["WRITE_GOLDEN"] == "1"
    assert_path_exists path, "no golden file; WRITE_GOLDEN=1 makes it"
    assert_equal File.read(path, encoding: "UTF-8"), text, "#{name} differs; if it should, run with WRITE_GOLDEN=1 and read the diff"
  end
end
