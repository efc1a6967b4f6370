# frozen_string_literal: true

require "test_helper"
require "fleet/simulated_answers"
require "openssl"
require "shellwords"
require "stringio"
require "support/command_line"
require "tmpdir"

class FleetCommandTest < TunerTest
  include CommandLine

  def fleet(*words, **) = puma_tuner("fleet", *words, **)

  test "what can't be understood is a mistake, before anything is asked" do
    {
      [] => /--a is missing: the labels of the servers/, %w[--a yjit=off] => /"yjit=off" is not a selector; write labels as in PromQL/,
      ["--a", '{a="b"}', "--window", "7"] => /--window 7: write a number and s, m, h, d or w/, ["--a", '{a="b"}', "--a-end", "soon"] => /--a-end soon: write a time such as/,
      ["--a", '{a="b"}', "--url", "nowhere"] => /--url: write the address of a Prometheus/, ["--a", '{a="b"}', "--url", "mailto:x"] => /--url: write the address of a Prometheus/, ["--a", '{a="b"}', "--timeout", "0"] => /--timeout 0/,
      ["--a", '{a="b"}', "--header", "x"] => /write "Name: value"/, ["--a", '{a="b"}', "--header", "A: b", "--header", "x"] => /write "Name: value"/,
      ["--a", '{a="b"}', "--cert", __FILE__] => /--cert and --key belong together/,
      ["--a", '{a="b"}', "--cert", __FILE__, "--key", __FILE__, "--url", "https://127.0.0.1"] => /--cert and --key: give files with a certificate/,
      ["--a", '{a="b"}', "--cert", __FILE__, "--key", __FILE__, "--url", "http://me:secret@127.0.0.1"] => %r{--url is http://127\.0\.0\.1: write https},
      ["--a", '{a="b"}', "--output", "/no/such/folder/x"] => /no folder/
    }.each { |words, pattern| assert_mistake pattern, puma_tuner_in_fork("fleet", *words) }
  end

  test "the command that repeats it has all that what is told rests on, and no header" do
    command = PumaTuner::CLI::Commands::Fleet
    FakePrometheus.open(SimulatedAnswers.call) do |fake|
      words = ["--url", fake.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "1d", "--step", "15m", "--source", "raw",
        "--a-end", "1795000000", "--b-end", "1795000000", "--by", "service", "--seed", "7", "--services", '{service="shop"}',
        "--slo", "90% < 300ms", "--slo", "GET /a: 99% < 1s"]
      out = StringIO.new
      given = command.parse([*words, "--header", "X-Scope-OrgID: team", "--header", "Authorization: Basic abc", "--output", "-"])
      command.new(out:, err: StringIO.new).call(**given.except(:verbose))
      told = Shellwords.split(PumaTuner::Document.parse(out.string, "-", [:fleet]).command)
      assert_equal %w[puma_tuner fleet], told.first(2)
      assert_equal command.parse(words), command.parse(told.drop(2))
    end
  end

  # @return [Array(OpenSSL::X509::Certificate, OpenSSL::PKey)] of this machine, signed by itself, and its key
  def own_certificate
    key = OpenSSL::PKey::EC.generate("prime256v1")
    certificate = OpenSSL::X509::Certificate.new
    certificate.version, certificate.serial = 2, 1
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=test")
    certificate.public_key = key
    certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 3_600
    certificate.add_extension(OpenSSL::X509::ExtensionFactory.new.create_extension("subjectAltName", "IP:127.0.0.1"))
    [certificate.sign(key, "SHA256"), key]
  end

  # Lets nobody in who has another certificate than its own, and answers the others with status 403.
  def with_tls(certificate, key)
    context = OpenSSL::SSL::SSLContext.new
    context.cert, context.key = certificate, key
    context.verify_mode = OpenSSL::SSL::VERIFY_PEER | OpenSSL::SSL::VERIFY_FAIL_IF_NO_PEER_CERT
    context.cert_store = OpenSSL::X509::Store.new.tap { |store| store.add_cert(certificate) }
    server = OpenSSL::SSL::SSLServer.new(TCPServer.new("127.0.0.1", 0), context)
    serving = Thread.new { loop { forbid(server) } }
    yield server.to_io.local_address.ip_port
  ensure
    serving&.kill&.join
    server&.close
  end

  def forbid(server)
    client = server.accept
    length = 0
    while (line = client.gets) && line != "\r\n"
      length = line[/\d+/].to_i if line.match?(/\Acontent-length:/i)
    end
    client.read(length)
    client.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  rescue OpenSSL::SSL::SSLError, SystemCallError
    nil
  ensure
    client&.close
  end

  test "a server that asks for a client certificate gets it, and an encrypted key is refused instead of asked about" do
    certificate, key = own_certificate
    Dir.mktmpdir do |folder|
      files = {"cert.pem" => certificate.to_pem, "key.pem" => key.to_pem, "locked.pem" => key.to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret")}
      files.each { |name, text| File.write(File.join(folder, name), text) }
      with_tls(certificate, key) do |port|
        ask = lambda do |*more|
          fleet("--a", '{a="b"}', "--url", "https://127.0.0.1:#{port}", *more, folder:, environment: {"SSL_CERT_FILE" => File.join(folder, "cert.pem")})
        end
        assert_failed(/does not let this request in \(status 403\)\..* or --cert and --key/, ask.call("--cert", "cert.pem", "--key", "key.pem"))
        assert_failed(/cannot connect to https/, ask.call)
        assert_mistake(/--cert and --key: give files with a certificate and its unencrypted private key/, ask.call("--cert", "cert.pem", "--key", "locked.pem"))
      end
    end
  end

  test "help tells what it is for" do
    result = fleet("--help")
    assert_match(/Compare two groups of servers, or two periods/, result.out + result.err)
  end
end
