# frozen_string_literal: true

desc "The long forms of all labs, one after the other, some eight hours; Ctrl-C and the same command go on; LABS=yjit,csp_collector: these only"
task("labs:long": :compile) do
  # As a subprocess would: with the project's own files.
  $LOAD_PATH.unshift(File.expand_path("../lib", __dir__), File.expand_path("../probe/lib", __dir__))
  require "puma_tuner"
  # No part of what the labs' programs run with: a run that goes on may name others.
  forms = PumaTuner::Lab::LongForms.new(ENV.delete("LABS").to_s.split(","), folder: File.expand_path("../tmp/labs", __dir__))
  abort("commit first: a finding names the commit that it was measured with") if forms.commit.nil? || forms.commit.changed
  status = forms.call
  exit(status) unless status.zero?
rescue PumaTuner::UsageError => error
  abort(error.message)
end
