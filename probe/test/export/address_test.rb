# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class ExportAddressTest < TunerTest
  Address = PumaTuner::Export::Address

  test "ports and paths are understood, and written as they were" do
    texts = ["tcp://127.0.0.1:9394", "tcp://[::1]:9394", "tcp://localhost:1", "unix:///run/my app/exporter.sock"]
    assert_equal texts, texts.map { |text| Address.parse(text).to_s }
    assert_equal ["::1", 9394], Address.parse("tcp://[::1]:9394").then { |address| [address.host_or_path, address.port] }
  end

  test "anything else is a mistake" do
    ["", "9394", "localhost:9394", "http://127.0.0.1:9394", "unix://relative", "tcp://127.0.0.1"].each do |text|
      assert_match(/not an address; write/, assert_raises(PumaTuner::UsageError) { Address.parse(text) }.message, text)
    end
  end

  test "a socket is its owner's only, and one that a killed server left is replaced" do
    Dir.mktmpdir do |folder|
      address = Address.parse("unix://#{folder}/exporter.sock")
      mask = File.umask
      first = address.listen
      assert_equal 0o600, File.stat(address.host_or_path).mode & 0o777
      assert_equal mask, File.umask
      assert_raises(Errno::EADDRINUSE) { address.listen }
      first.close
      assert_path_exists address.host_or_path
      address.listen.close
    end
  end
end
