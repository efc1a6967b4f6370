# frozen_string_literal: true

module PumaTuner
  module CLI
    # Measures what this machine, its Ruby and its Puma cost, once and for all apps.
    class Commands::Calibrate < Command
      desc "Measure this machine, once: its cores, Ruby's threads and Puma itself. " \
        "Predictions for it are then made with its own figures"
      options :ruby, :force, output: {usual: "the cache alone"}
      example [
        "                       # some 40 seconds, on a machine that has nothing else to do",
        "--force                # again",
        "--ruby 3.3.8           # for an app on another Ruby",
        "--output machine.json  # for another place"
      ]

      # @param measure [#call] see PumaTuner::Calibrate.call
      def initialize(measure: Calibrate.method(:call), **)
        super(**)
        @measure = measure
      end

      def call(force:, output:, ruby:)
        Output.check_writable(output)
        @ruby = ruby ? Prove::Installed.ruby(ruby) : RbConfig.ruby
        store = Calibrate::Store.new
        machine = kept(store) unless force
        machine ? tell_kept(machine, store) : machine = measured(store)
        Output.write(machine, **telling, path: output)
      end

      private

      # One of before switches, or shared cores, were measured lacks some of what predictions rest on. One that others
      # disturbed has some of it wrong.
      def kept(store)
        store.read(Calibrate.current_key(ruby: @ruby))&.then do |machine|
          machine if machine.calibrated.switch_costs.any? && machine.meeting_ratio && !machine.calibrated.disturbed?
        end
      end

      def tell_kept(machine, store)
        calibrated = machine.calibrated
        err.puts("puma_tuner: this machine was calibrated at #{calibrated.calibrated_at}; " \
          "to do it again: puma_tuner calibrate --force", "kept: #{store.path(calibrated.machine_key)}")
      end

      def measured(store)
        remarks = []
        @measure.call(progress:, ruby: @ruby) { |remark| remarks << remark }.tap do |machine|
          keep(machine, store)
          warn_of(remarks) if remarks.any?
        end
      end

      # The figures are no worse for not being kept.
      def keep(machine, store)
        err.puts("kept: #{store.write(machine)}")
      rescue UsageError => error
        err.puts("puma_tuner: #{error.message} The figures are not saved; --output FILE saves them elsewhere.")
      end

      def warn_of(remarks)
        err.puts("puma_tuner: the machine was not quiet, and the figures may be worse than they should: " \
          "#{remarks.join(" ")} When it is quiet: puma_tuner calibrate --force")
      end
    end
  end
end
