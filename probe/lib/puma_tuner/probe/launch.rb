# frozen_string_literal: true

module PumaTuner
  module Probe
    # Inside a server that we started: sets the topology and the address for this one run, over whatever the user's
    # command and files say, and announces where it listens and which processes serve. Nothing of the user's is edited.
    #
    # environment:
    #   PUMA_TUNER_DIRECTORY  where the announcements go
    #   PUMA_TUNER_TOPOLOGY   "2x3"; unset: the user's own
    #   PUMA_TUNER_BIND       "tcp://127.0.0.1:0"; unset: the user's own
    #   PUMA_TUNER_AFFINITY   path of `taskset`, which binds each worker to a core of its own; unset: none is bound
    #   PUMA_TUNER_OPTIONS    more of Puma's options, a "name=value" a line; threads=1:5 for both bounds; config=FILE
    module Launch
      ANNOUNCEMENT = "announcement"

      # A file for each worker that has begun to boot, with its process id behind this. A worker can't be told from
      # outside: under `fork_worker` most are no children of the master, apps change the titles that Puma gives, and
      # what a worker forks has its title.
      WORKER = "worker-"

      # These options are set only when we choose the address: they name files and sockets of a server that the user may
      # be running now, also its logs. Those would be emptied (`stdout_redirect`), and what goes there could not be told
      # where a server fails.
      OTHER_SERVERS_OPTIONS = %i[pidfile state control_url redirect_stdout redirect_stderr].freeze

      AFFINITY = "PUMA_TUNER_AFFINITY"

      class << self
        def install
          Puma.stop_without_hanging
          Puma.around_launch(configured: method(:override), booted: method(:booted))
        end

        # @api private
        # @param options [Hash] the user's own
        def override(options)
          ENV["PUMA_TUNER_OPTIONS"].to_s.each_line(chomp: true) { |line| set(options, *line.split("=", 2)) }
          if (topology = ENV["PUMA_TUNER_TOPOLOGY"])
            workers, threads = topology.split("x").map { |number| Integer(number) }
            options[:workers] = (workers == 1) ? 0 : workers
            options[:min_threads] = options[:max_threads] = threads
          end
          if (bind = ENV["PUMA_TUNER_BIND"])
            options[:binds] = [bind]
            OTHER_SERVERS_OPTIONS.each { |name| options[name] = nil }
          end
          # The cores are asked for now, as under `fork_worker` workers are forked from one that is bound.
          @cores = Processes.allowed_cores if ENV[AFFINITY]
          (options[:before_worker_boot] ||= []) << Puma.worker_hook(method(:worker_boots))
        end

        # @api private
        # @param index [Integer] of the worker, which is this process; with more workers than cores, some share one
        def bind_to_core(index)
          program = ENV[AFFINITY] or return
          core = @cores[index % @cores.size]
          # It also binds the threads that the process has already; those to come inherit it. BusyBox knows
          # short options alone.
          system(program, "-a", "-c", "-p", core.to_s, Process.pid.to_s, out: File::NULL) or
            Probe.say("this process could not be bound to core #{core}")
        end

        # @api private
        def booted(launcher)
          bind_to_core(0) if launcher.options[:workers].to_i.zero?
          announce(launcher)
        end

        # @api private
        def announce(launcher)
          # It is not written as JSON: loading json would choose its version before the app does.
          AtomicFile.write(File.join(ENV.fetch("PUMA_TUNER_DIRECTORY"), ANNOUNCEMENT), Marshal.dump(facts(launcher)))
        end

        # @return [Hash] ServerFacts' fields, as seen from inside this process
        def server_facts
          {
            ruby_version: RUBY_VERSION,
            ruby_description: RUBY_DESCRIPTION,
            yjit_enabled: defined?(RubyVM::YJIT) ? RubyVM::YJIT.enabled? : nil,
            puma_version: Puma.version,
            rack_version: (defined?(::Rack) && ::Rack.respond_to?(:release)) ? ::Rack.release : nil,
            thread_timeslice_ms: ENV.fetch("RUBY_THREAD_TIMESLICE", "100").to_i,
            rack_environment: ENV["RACK_ENV"],
            puma_features: Puma.features
          }
        end

        private

        def worker_boots(index)
          announce_worker
          bind_to_core(index)
        end

        def announce_worker
          File.write(File.join(ENV.fetch("PUMA_TUNER_DIRECTORY"), "#{WORKER}#{Processes.identity(Process.pid)}"), "")
        rescue SystemCallError
          nil # the command has gone, and its folder with it
        end

        def set(options, name, value)
          case name
          when "config" then options[:config_files] = [value]
          when "threads"
            least, most = value.split(":").map { |number| Integer(number) }.values_at(0, -1)
            options[:min_threads] = least
            options[:max_threads] = most
          else options[name.to_sym] = option_value(value)
          end
        end

        def option_value(text)
          case text
          when /\A\d+\z/ then text.to_i
          when /\A\d*\.\d+\z/ then text.to_f
          when "true", "false" then text == "true"
          else text
          end
        end

        # These options belong to one run only, or are no setting.
        PLACES = %i[binds config_files pidfile state control_url control_auth_token tag directory rackup log_writer
          logger].freeze
        private_constant :PLACES

        # Puma's options in effect that are plain values.
        def plain_options(options)
          all = options.respond_to?(:final_options) ? options.final_options : options.to_h
          all.except(*PLACES)
            .select { |_, value| [Integer, Float, true, false, String, Symbol].any? { |kind| kind === value } }
            .to_h { |name, value| [name.to_s, Fingerprint.shown(name.to_s, value.to_s)] }
        end

        def facts(launcher)
          options = launcher.options
          {
            "pid" => Process.pid,
            "ports" => launcher.connected_ports,
            "binds" => options[:binds],
            "workers_count" => options[:workers].to_i,
            "min_threads_count" => options[:min_threads].to_i,
            "max_threads_count" => options[:max_threads].to_i,
            "options" => plain_options(options),
            "server" => server_facts.transform_keys(&:to_s)
          }
        end
      end
    end
  end
end
