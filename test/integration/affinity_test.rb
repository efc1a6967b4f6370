# frozen_string_literal: true

require "test_helper"
require "support/served_app"

# What `affinity=on` or `core` of a variant does to the server that runs.
class AffinityTest < TunerTest
  include PumaTuner

  # @yieldparam server [Host::ServerProcess] with workers that are bound, unless told otherwise
  def serve(topology, affinity: "on", gemfile: ServedApp::PUMAS.fetch("puma_8_0"), puma_rb: nil)
    ServedApp.open(puma_rb:) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment(gemfile:))
      variant = Prove::VariantParser.parse(["bound:affinity=#{affinity}"]).first
      ready = Prove::Preparation.new(variants: [variant], command:, folder: nil).call(variant)
      Host::ServerProcess.run(ready.command, topology: Topology.parse(topology), meter: true) { |server| yield server, ready }
    end
  end

  # @return [Array<Array<String>>] of each serving process, the cores of its threads
  def cores_of(server)
    server.serving_pids.map do |pid|
      Dir["/proc/#{pid}/task/*/status"].map { |path| File.read(path)[/^Cpus_allowed_list:\s*(\S+)/, 1] }.uniq
    end
  end

  # As many workers as there are cores, two at most.
  def cores = @cores ||= Probe::Processes.allowed_cores.first(2).map(&:to_s)

  ServedApp::PUMAS.each do |name, gemfile|
    test "each worker has a core to itself, all its threads with it, with #{name}" do
      serve("#{cores.size}x3", gemfile:) do |server|
        assert_equal 30, ServedApp.request(server.url[/\d+\z/].to_i, "/work", clients: 3, each: 10).size
        assert_equal cores.zip, cores_of(server).sort
      end
    end
  end

  test "one process is bound, too, and what ran says so" do
    serve("1x3") do |server, ready|
      assert_equal [[cores.first]], cores_of(server)
      assert_equal cores.first, Host::WhatRan.of(server, Host::SignalQuery.new(server.directory))[[:cores, nil]]
    end
  end

  test "affinity=core binds as affinity=on does, and affinity=off does not" do
    serve("1x3", affinity: "core") { |server| assert_equal [[cores.first]], cores_of(server) }
    serve("1x3", affinity: "off") { |server| assert_equal Probe::Processes.allowed_cores.size > 1, cores_of(server) != [[cores.first]] }
  end

  test "workers that are forked from a bound one have cores of their own" do
    serve("2x1", puma_rb: "fork_worker 0\n") { |server| assert_equal cores.zip, cores_of(server).sort.uniq }
  end

  test "a machine without taskset is told what is missing" do
    path = ENV.fetch("PATH")
    ENV["PATH"] = "/nonexistent"
    error = assert_raises(UsageError) do
      Prove::Preparation.new(variants: [], command: Host::Command.new(words: ["puma"], directory: "/", environment: {}), folder: nil)
        .call(Prove::Variant.new(name: "bound", factors: {"affinity" => "on"}))
    end
    assert_match(/affinity=on needs `taskset`/, error.message)
  ensure
    ENV["PATH"] = path
  end
end
