# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner calibrate: what this machine, its Ruby and its Puma cost, once and for all apps. (Not `Calibrate`:
    # that is what the other commands call PumaTuner::Calibrate.)
    class CalibrateMachine < Dry::CLI::Command
      desc "Measure this machine, once: its cores, Ruby's threads and Puma itself. Predictions for it are then made with its own figures"
      option :output, desc: "file for the figures, besides the cache"
      option :ruby, desc: "Ruby whose threads are measured: a version, or a path; default: the one that runs puma_tuner"
      option :force, type: :flag, default: false, desc: "measure again, also when they are there already"
      example [
        "                       # some 40 seconds, on a machine that has nothing else to do",
        "--force                # again",
        "--ruby 3.3.8           # for an app on another Ruby",
        "--output machine.json  # for another place"
      ]

      def call(force: false, output: nil, ruby: nil, **)
        Output.check_writable(output)
        @ruby = ruby ? PumaTuner::Prove::Rubies.find(ruby) : RbConfig.ruby
        store = Calibrate::Store.new
        machine = kept(store) unless force
        machine ? tell_kept(machine, store) : machine = measured(store)
        output ? Output.keep(machine, output, out:, err:) : Output.write(machine, out:, err:)
      end

      private

      # One of before switches were measured lacks some of what predictions rest on.
      def kept(store) = store.read(Calibrate.current_key(ruby: @ruby))&.then { |machine| machine if machine.calibrated.switch_costs.any? }

      def tell_kept(machine, store)
        calibrated = machine.calibrated
        err.puts("puma_tuner: this machine was calibrated at #{calibrated.calibrated_at}; to do it again: puma_tuner calibrate --force",
          "kept: #{store.path(calibrated.machine_key)}")
      end

      def measured(store)
        remarks = []
        Calibrate.call(progress: Progress.new(err), ruby: @ruby) { |remark| remarks << remark }.tap do |machine|
          keep(machine, store)
          warn_of(remarks) if remarks.any?
        end
      end

      # The figures are no worse for not being kept.
      def keep(machine, store)
        err.puts("kept: #{store.write(machine)}")
      rescue UserMistake => mistake
        err.puts("puma_tuner: #{mistake.message} The figures are not kept; --output FILE puts them elsewhere.")
      end

      def warn_of(remarks)
        err.puts("puma_tuner: the machine was not quiet, and the figures may be worse than they should: #{remarks.join(" ")} " \
          "When it is quiet: puma_tuner calibrate --force")
      end
    end
  end
end
