# frozen_string_literal: true

module PumaTuner
  module Top
    # A running server whose processes are recorded, found from outside: by what Linux tells of processes, without a
    # word to the server. It may be in a container, whose files are seen below /proc/PID/root, and whose processes have
    # other ids inside.
    #
    # pid: of the process that leads it, as it is counted here; identity: Probe::Processes.identity of that
    # directory: of its ledgers, as this process can open it
    # folder: in which it runs, as it is called there; nil where that is not told
    # ours: whether a command of ours has started it, whose recording must not be disturbed
    Server = Data.define(:pid, :identity, :directory, :folder, :ours) do
      # @return [Probe::Ledgers]
      def ledgers = Probe::Ledgers.new(directory)

      # @return [Boolean] whether it has not ended
      def alive? = Probe::Processes.there?(identity)

      # What the server's own lines and its exporter tell, too: a process beside the server forecasts far more settings
      # than those next to today's, and leaves what it chose (Probe::Forecasting).
      #
      # @return [Probe::Recommendation, nil] nil where there is none, or an old one
      def recommendation
        found = Probe::Recommendation.read(directory)
        found unless found&.old?
      end

      # The folder's name is another process's, which may not steer the terminal of whoever looks.
      #
      # @return [String] "4711 (/srv/shop)"
      def to_s = folder ? "#{pid} (#{Report::Figures.printable(folder)})" : pid.to_s
    end

    # All servers of this machine that are recorded, those in containers included as far as this user may look.
    class Servers
      HINT = "A server is found once it has the gem puma_tuner-probe: `PumaTuner.run` or `plugin :puma_tuner` in " \
        "config/puma.rb, or RUBYOPT=-rpuma_tuner/autorun."

      # @param proc [String] where processes are told of
      def initialize(proc: "/proc")
        @proc = proc
        @folders = {}
      end

      # @param named [String, nil] a process id, of the server or of any process above or below; a folder that servers
      #   run in, or a config.ru in it; nil: the only one there is
      # @return [Server]
      # @raise [UsageError] where there is none, or several
      # @raise [InvalidMeasurement] where the kernel tells of no processes
      def find(named = nil)
        unless Probe::Processes.told?
          raise InvalidMeasurement, "a running server is found by what Linux tells of processes in /proc, which is " \
            "not here; `puma_tuner measure --load` measures one that it starts itself"
        end
        found = outermost(named ? matching(named) : all)
        return found.first if found.one?
        raise UsageError, several(found, named) if found.any?
        raise UsageError, "#{nothing(named)} #{HINT}#{unseen}"
      end

      # @return [Array<Server>] by process id
      def all = @all ||= (of_folders + of_open_ledgers).uniq(&:directory).sort_by(&:pid)

      private

      # What an app forks beside its server, as Solid Queue's plugin for Puma does, has its jobs in a folder of its own,
      # and is no second server. Whoever means it names its process.
      def outermost(servers)
        return servers if servers.size < 2
        below = servers.flat_map { |server| Probe::Processes.tree_of(server.pid) - [server.pid] }
        servers.reject { |server| below.include?(server.pid) }
      end

      def matching(named)
        return of_process(named.to_i) if named.match?(/\A\d+\z/)
        folder = folder_named(named) or raise UsageError, "#{named} is neither a process id nor a folder"
        all.select { |server| server.folder == folder }
      end

      # @return [String, nil] nil of what is none
      def folder_named(text)
        path = File.expand_path(text.end_with?(".ru") ? File.dirname(text) : text)
        File.realpath(path) if File.directory?(path)
      rescue ArgumentError
        nil # ~name, of a user who is not there
      end

      def of_process(pid)
        raise UsageError, "there is no process #{pid}" unless Probe::Processes.alive?(pid)
        below = Probe::Processes.tree_of(pid)
        inside = all.select { |server| below.include?(server.pid) }
        return inside if inside.any?
        all.select { |server| Probe::Processes.tree_of(server.pid).include?(pid) }.max_by(1, &:pid)
      end

      def several(servers, named)
        of_it = " of #{Report::Figures.printable(named)}" if named
        "#{Units.counted(servers.size, "server")}#{of_it} are recorded here; name one by its process id: " \
          "#{servers.join(", ")}"
      end

      def nothing(named)
        named ? "no server that is recorded belongs to #{named}." : "no server that is recorded was found here."
      end

      # Processes of others are not looked into, but by root.
      def unseen = (" Servers of other users are found by root alone." unless Process.uid.zero?)

      # Those whose ledgers lie where the probe usually puts them: the folder's name is the process that leads.
      def of_folders
        pids.filter_map do |pid|
          identity = identity_of(pid) or next
          folder = folders_of(pid).find { |path| File.basename(path) == identity }
          server(pid, folder) if folder
        end
      end

      # Who writes a ledger has it open, wherever it lies: in some other place, or in a folder of a command of ours.
      def of_open_ledgers
        writers = pids.flat_map { |pid| open_folders(pid).map { |folder| [[mount(pid), folder], pid] } }
        writers.group_by(&:first).filter_map do |(_, folder), pairs|
          leader = leader_of(folder, pairs.map(&:last).min)
          server(leader, folder) if leader
        end
      end

      def open_folders(pid)
        Dir.each_child("#{@proc}/#{pid}/fd").filter_map { |fd| link(pid, "fd/#{fd}") }
          .select { |path| path.end_with?(".ledger") }.map { |path| File.dirname(path) }.uniq
      rescue SystemCallError
        [] # it has gone, or is somebody else's
      end

      # @param writer_pid [Integer] the first of those that write there
      def leader_of(folder, writer_pid)
        name = File.basename(folder)
        return pids.find { |pid| identity_of(pid) == name } if own_place?(folder)
        ledger = Dir[File.join(root(writer_pid), folder, "#{Processes.inner_pid(writer_pid)}-*.ledger")].first or return
        worker?(ledger) ? stat(writer_pid)[1].to_i : writer_pid
      end

      def worker?(path)
        reader = LedgerReader.new(File.open(path, File::RDONLY | File::NOFOLLOW, binmode: true))
        !reader.ledger(traced: false, locks: false)&.facts.to_h["worker_index"].nil?
      rescue SystemCallError, InvalidDocument
        false
      ensure
        reader&.close
      end

      def server(pid, folder)
        Server.new(pid:, directory: File.join(root(pid), folder), identity: Probe::Processes.identity(pid),
          folder: link(pid, "cwd"), ours: !own_place?(folder))
      end

      # @return [Boolean] whether the server itself has chosen the folder of its ledgers
      def own_place?(folder) = Probe::Ledgers::NAME.match?(File.basename(folder).b)

      def pids = @pids ||= Dir.children(@proc).grep(/\A\d+\z/).map(&:to_i).sort

      # Of a process, as the server itself made it: by the id that it has inside its container.
      #
      # @return [String, nil] nil where this user may not look
      def identity_of(pid)
        space = link(pid, "ns/pid")&.slice(/\d+/) or return
        began = stat(pid)[19] or return
        "#{Processes.inner_pid(pid, proc: @proc)}-#{began}-#{space}"
      end

      # @return [Array<String>] see Probe::Processes.stat
      def stat(pid) = Probe::Processes.stat(pid, proc: @proc)

      # @return [Array<String>] folders of servers' ledgers that the process can see, as they are called there; one look
      #   for all that see the same
      def folders_of(pid)
        @folders[mount(pid)] ||= [Probe::Ledgers::IN_MEMORY, "/tmp"].flat_map do |place|
          Dir[File.join(root(pid), place, "puma_tuner-*/*-*-*")].map { |path| path.delete_prefix(root(pid)) }
        end
      end

      def mount(pid) = link(pid, "ns/mnt")

      # @return [String] before a path of the process; nothing where it sees the same files as we do
      def root(pid) = (mount(pid) == mount("self")) ? "" : "#{@proc}/#{pid}/root"

      # A path may be of any bytes. It stays as it is, or it would be another one, so no pattern is looked for in it.
      def link(pid, name)
        File.readlink("#{@proc}/#{pid}/#{name}")
      rescue SystemCallError
        nil # it has gone, or is somebody else's
      end
    end

    # The processes of a server by the ids that they have themselves, which may be others than they have here.
    class Processes
      # @param pid [Integer] as it is counted here
      # @param proc [String]
      # @return [Integer] as the process itself is told
      def self.inner_pid(pid, proc: "/proc")
        Probe::Processes.read("#{proc}/#{pid}/status")[/^NSpid:.*?(\d+)$/, 1]&.to_i || pid
      end

      # @param leader_pid [Integer]
      def initialize(leader_pid)
        @leader_pid = leader_pid
        @same = self.class.inner_pid(leader_pid) == leader_pid
        @known = {}
      end

      # @param inner_pid [Integer] of a ledger
      # @return [Integer, nil] as it is counted here; nil of one that has ended
      def pid_of(inner_pid)
        return inner_pid if @same
        look unless @known.key?(inner_pid)
        @known[inner_pid]
      end

      private

      # A process that was forked by a worker that has ended since is no longer below the leader.
      def look
        space = space_of(@leader_pid)
        @known = Probe::Processes.ids.select { |pid| space_of(pid) == space }
          .to_h { |pid| [self.class.inner_pid(pid), pid] }
      end

      def space_of(pid)
        File.readlink("/proc/#{pid}/ns/pid")
      rescue SystemCallError
        nil
      end
    end
  end
end
