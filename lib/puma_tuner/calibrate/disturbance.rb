# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Tells whether the machine was busy with something else.
    #
    # facts: before it; foreign_ratio: of all the machine's CPU time meanwhile, what neither we nor our children used;
    #   stolen_ratio: what the hypervisor took; both nil where unknown
    Disturbance = Data.define(:facts, :foreign_ratio, :stolen_ratio) do
      # A judgement: less than this moves no median much.
      const_set(:SHARE_MAX, 0.05)
      const_set(:LOAD_PER_CORE_MAX, 0.5)
      const_set(:PRESSURE_MAX, 0.05)

      # @yield what may be disturbed; its children must have been waited for when it ends
      # @return [Array(Disturbance, Object)] with what the block returns
      def self.during
        facts = Probe::MachineFacts.read
        before = spent
        value = yield
        [of(facts, before, spent), value]
      end

      # @param before [Hash{Symbol => Integer, nil}]
      def self.of(facts, before, after)
        used = after.to_h { |name, ns| [name, ns && before[name] && ns - before[name]] }
        machine_ns = used[:time_ns] * after[:cores_count].to_f
        new(facts:, foreign_ratio: used[:busy_ns] && [(used[:busy_ns] - used[:own_ns]) / machine_ns, 0.0].max,
          stolen_ratio: used[:stolen_ns] && used[:stolen_ns] / machine_ns)
      end

      # Returns what was spent of the cores that this process may use.
      def self.spent
        of_machine = Host::MachineLoad.read.slice(:busy_ns, :stolen_ns)
        time_ns = Clock.now_ns
        {**of_machine, time_ns:, own_ns: (Process.times.to_a.sum * Units::NS_PER_S).round, cores_count: Etc.nprocessors}
      end
      private_class_method :spent

      # The load average is of a whole minute before, perhaps of our own last
      # run, and tells only where nothing better does.
      # @return [Array<String>] sentences
      def remarks = [*(foreign_ratio ? foreign : [load, pressure]), stolen].compact

      # @return [Float, nil] of all the machine's CPU time, what others and the hypervisor took
      def taken_ratio = [foreign_ratio, stolen_ratio].compact.then { |ratios| ratios.sum if ratios.any? }

      private

      def foreign
        return unless foreign_ratio && foreign_ratio > self.class::SHARE_MAX
        "Something else used #{Units.percent(foreign_ratio)} of the machine's CPU meanwhile."
      end

      def stolen
        return unless stolen_ratio && stolen_ratio > self.class::SHARE_MAX
        "The hypervisor took #{Units.percent(stolen_ratio)} of the machine's CPU meanwhile."
      end

      def load
        return unless facts.load_average && facts.load_average > facts.cores_count * self.class::LOAD_PER_CORE_MAX
        "The load average was #{facts.load_average} before it began."
      end

      def pressure
        return unless facts.cpu_pressure_ratio && facts.cpu_pressure_ratio > self.class::PRESSURE_MAX
        "Somebody waited for a core #{Units.percent(facts.cpu_pressure_ratio)} of the time before it began."
      end
    end
  end
end
