# frozen_string_literal: true

module PumaTuner
  module Host
    # What serves the app on its own machine, such as a database or a cache: processes that listen where the server is
    # connected to, over loopback or a Unix socket, and all that they have started. Their work is part of the app's, and
    # nobody's who disturbs it.
    #
    # It goes by what Linux tells of sockets: whose they are, where we may look, and else the user they belong to, as
    # databases mostly have one of their own. A container's processes behind a proxy stay unknown.
    class Services
      # States of a TCP socket, as /proc/net/tcp has them.
      ESTABLISHED, LISTENING = "01", "0A"

      # A Unix socket that listens (__SO_ACCEPTCON), by its flags in /proc/net/unix.
      ACCEPTS = 0x10000

      # A socket: local and remote are addresses, or a path; uid: nil where it is not told.
      Row = Data.define(:state, :inode, :uid, :local, :remote)
      private_constant :Row

      # @param pids [Array<Integer>] of the server
      # @return [Array<Integer>] processes that lead services; empty where there are none, or nobody knows
      def self.of(pids) = new(pids).leaders

      # @param leaders [Array<Integer>]
      # @return [Integer] CPU time so far in nanoseconds, of all that they have started too, also of what has ended
      def self.cpu_ns(leaders)
        leaders.flat_map { |pid| Probe::Processes.tree_of(pid) }.uniq
          .sum { |pid| Probe::Processes.cpu_ns(pid).to_i + of_ended_children_ns(pid) }
      end

      # Of those that it has waited for: the fields cutime and cstime.
      def self.of_ended_children_ns(pid)
        Probe::Processes.stat(pid).values_at(13, 14).sum(&:to_i) * MachineLoad::NS_PER_TICK
      end
      private_class_method :of_ended_children_ns

      # @param pids [Array<Integer>]
      def initialize(pids)
        @pids = pids
      end

      # @return [Array<Integer>]
      def leaders
        listening = [*of_tcp, *of_unix]
        return [] if listening.empty?
        owners = owners(listening.map(&:inode))
        found, hidden = listening.partition { |row| owners.key?(row.inode) }
        leaders = found.flat_map { |row| owners.fetch(row.inode) } | of_users(hidden.filter_map(&:uid).uniq)
        leaders.reject { |pid| above_us?(pid) }
      end

      private

      # An init that holds the sockets of its services has started all there is, us too.
      def above_us?(pid) = Probe::Processes.tree_of(pid).intersect?([*@pids, Process.pid])

      # @return [Array<String>] inodes of the server's sockets
      def own = @own ||= @pids.flat_map { |pid| inodes(pid) }.uniq

      def inodes(pid)
        Dir.children("/proc/#{pid}/fd").filter_map { |name| socket("/proc/#{pid}/fd/#{name}") }
      rescue SystemCallError
        [] # it has ended, or is somebody else's
      end

      def socket(link)
        # Other files may have names in any bytes.
        File.readlink(link).scrub[/\Asocket:\[(\d+)\]\z/, 1]
      rescue SystemCallError
        nil # it was closed meanwhile
      end

      # The other end of a connection is on this machine where it stands in the same table. Who listens there serves.
      def of_tcp
        rows = tcp_rows
        ends = rows.select { |row| row.state == ESTABLISHED }.to_h { |row| [[row.local, row.remote], row] }
        ports = ends.each_value.select { |row| own.include?(row.inode) && ends.key?([row.remote, row.local]) }
          .map { |row| port(row.remote) }.uniq
        rows.select { |row| row.state == LISTENING && ports.include?(port(row.local)) && !own.include?(row.inode) }
      end

      def tcp_rows
        %w[tcp tcp6].flat_map do |name|
          Probe::Processes.read("/proc/#{@pids.first}/net/#{name}").each_line.filter_map do |line|
            _, local, remote, state, _, _, _, uid, _, inode = line.split
            next unless [ESTABLISHED, LISTENING].include?(state)
            Row.new(state:, inode:, uid: uid.to_i, local: address(local), remote: address(remote))
          end
        end
      end

      # An IPv4 address stands in an IPv6 socket with a prefix.
      def address(text) = text.delete_prefix("0000000000000000FFFF0000")

      def port(address) = address[/\h+\z/]

      # Of a path that is listened at, all connections have the path at the end of who accepted them.
      def of_unix
        peers = UnixPeers.of(own)
        return [] if peers.empty?
        rows = unix_rows
        paths = rows.select { |row| peers.include?(row.inode) }.map(&:local).uniq
        rows.select { |row| row.state == LISTENING && paths.include?(row.local) && !own.include?(row.inode) }
      end

      def unix_rows
        Probe::Processes.read("/proc/#{@pids.first}/net/unix").each_line.drop(1).filter_map do |line|
          _, _, _, flags, _, _, inode, path = line.chomp.split(" ", 8)
          next unless path
          listening = flags.to_i(16).anybits?(ACCEPTS)
          Row.new(state: (LISTENING if listening), inode:, uid: (owner_of(path) if listening), local: path, remote: nil)
        end
      end

      def owner_of(path)
        File.stat(path).uid
      rescue SystemCallError
        nil # of a name without a file, or in another folder's view
      end

      # @return [Hash{String => Array<Integer>}] processes by inode: those that we may look into
      def owners(wanted)
        Probe::Processes.ids.each_with_object({}) do |pid, found|
          (inodes(pid) & wanted).each { |inode| (found[inode] ||= []) << pid }
        end
      end

      # A user of its own has nothing but its service; that of people, or root, has much else.
      def of_users(uids)
        wanted = uids - [0, Process.uid]
        return [] if wanted.empty?
        Probe::Processes.ids.select { |pid| wanted.include?(user(pid)) }
      end

      def user(pid)
        File.stat("/proc/#{pid}").uid
      rescue SystemCallError
        nil
      end
    end
  end
end
