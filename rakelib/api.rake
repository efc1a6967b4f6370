# frozen_string_literal: true

namespace :docs do
  reference = lambda do
    $LOAD_PATH.unshift(*%w[lib probe/lib].map { |folder| File.expand_path("../#{folder}", __dir__) })
    require_relative "api_reference"
  end

  desc "Are the comments whole, and the API's page and signatures as they say? Fails for any warning of YARD's, too"
  task :check do
    reference.call
    require_relative "signatures"
    found = ApiReference.new
    faults = found.faults
    faults.concat(Signatures.new(found).stale.map { |path| "#{path} is not up to date: run `rake sig`" }) if faults.empty?
    page = File.exist?(ApiReference::PAGE) ? File.read(ApiReference::PAGE) : ""
    faults << "#{ApiReference::PAGE} is not up to date: run `rake docs:api_list`" if faults.empty? && page != found.page
    abort("#{faults.join("\n")}\n#{faults.size} faults in the documentation of the code") if faults.any?
  end

  desc "Writes docs/reference/api.md out of the comments"
  task :api_list do
    reference.call
    mkdir_p(File.dirname(ApiReference::PAGE), verbose: false)
    File.write(ApiReference::PAGE, ApiReference.new.page)
  end

  desc "Makes pages of all comments, below doc/"
  task(api: :check) { sh("yard", "doc", "--quiet", "--no-cache", verbose: false) }
end

desc "Writes the signatures of the public API (RBS) out of the types in the comments, and keeps those of fields"
task :sig do
  $LOAD_PATH.unshift(*%w[lib probe/lib].map { |folder| File.expand_path("../#{folder}", __dir__) })
  require_relative "signatures"
  Signatures.new.texts.each do |path, text|
    mkdir_p(File.dirname(path), verbose: false)
    File.write(path, text)
  end
end
