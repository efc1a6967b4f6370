# frozen_string_literal: true

require "fileutils"
require "socket"
require "tmpdir"
require_relative "companion"

module Demo
  # A MariaDB of the demo's own: in a temporary folder, on a socket in it, without a network. It is stopped, and the folder
  # removed, when the server goes. A MariaDB that runs on this machine already is left alone.
  class Database
    PROGRAMS = %w[mariadb-install-db mariadbd].freeze
    # Where Debian has mariadbd, and where people's PATH often does not lead.
    FOLDERS = [*ENV.fetch("PATH", "").split(":"), "/usr/sbin", "/usr/local/sbin"].uniq.freeze
    START_LIMIT_S = 60

    # Smallest of everything: the queries only sleep.
    SIZES = %w[--innodb-buffer-pool-size=8M --innodb-log-file-size=4M --key-buffer-size=64K --aria-pagecache-buffer-size=1M
      --table-open-cache=64 --max-connections=1000 --performance-schema=OFF].freeze

    # @return [String] the socket's path
    attr_reader :address

    # @param search_folders [Array<String>] for the programs
    def initialize(search_folders: FOLDERS)
      @search_folders = search_folders
      @folder = Dir.mktmpdir("puma_tuner-demo")
      @address = File.join(@folder, "socket")
    end

    # @raise [Companion::Failed]
    def start
      missing = PROGRAMS.reject { |name| path_of(name) }
      unless missing.empty?
        raise Companion::Failed, "#{missing.join(" and ")} not found. " \
          "Install MariaDB: sudo apt-get install mariadb-server-core mariadb-client-core (Debian, Ubuntu)"
      end
      install
      @pid = Process.spawn(path_of("mariadbd"), *options, "--skip-networking", "--socket=#{@address}",
        "--pid-file=#{file("pid")}", "--log-error=#{file("mariadbd.log")}", *SIZES, in: File::NULL, out: File::NULL, err: File::NULL)
      wait_for_socket
    end

    # Without asking: nothing in there is worth writing down.
    def stop
      if @pid
        Process.kill(:KILL, @pid)
        Process.wait(@pid)
      end
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    ensure
      FileUtils.remove_entry(@folder, true)
    end

    private

    def file(name) = File.join(@folder, name)

    def path_of(name) = @search_folders.map { |folder| File.join(folder, name) }.find { |path| File.file?(path) && File.executable?(path) }

    # MariaDB refuses to run as root unless told to.
    def options = ["--no-defaults", "--datadir=#{file("data")}", *("--user=root" if Process.euid.zero?)]

    def install
      return if system(path_of("mariadb-install-db"), *options, "--auth-root-authentication-method=normal", "--skip-test-db",
        "--skip-name-resolve", in: File::NULL, out: file("install.log"), err: %i[child out])
      raise Companion::Failed, "mariadb-install-db failed: #{tail("install.log")}"
    end

    def wait_for_socket
      deadline_s = now_s + START_LIMIT_S
      until connectable?
        raise Companion::Failed, "mariadbd ended: #{tail("mariadbd.log")}" if Process.waitpid(@pid, Process::WNOHANG)
        raise Companion::Failed, "mariadbd did not answer within #{START_LIMIT_S} s: #{tail("mariadbd.log")}" if now_s > deadline_s
        sleep 0.02
      end
    end

    def connectable?
      UNIXSocket.new(@address).close
      true
    rescue Errno::ENOENT, Errno::ECONNREFUSED
      false
    end

    def tail(name) = File.exist?(file(name)) ? File.readlines(file(name), chomp: true).last(3).join(" | ") : "it printed nothing"

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

if $PROGRAM_NAME == __FILE__
  server_pid = Integer(ARGV.fetch(0))
  $PROGRAM_NAME = "demo database of #{server_pid}"
  database = Demo::Database.new
  begin
    database.start
    Demo::Companion.ready(database.address)
    Demo::Companion.stay_with(server_pid)
  rescue Demo::Companion::Failed => error
    Demo::Companion.failed(error.message)
  ensure
    database.stop
  end
end
