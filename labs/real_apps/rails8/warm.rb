# frozen_string_literal: true

# Runs once inside the application: asks for every page that leaves something in Solid Cache, whose rows outlive the server. Otherwise the
# first trial would write what all others read.
session = ActionDispatch::Integration::Session.new(Rails.application)
["/", *Book.ids.map { |id| "/books/#{id}" }].each do |path|
  status = session.get(path)
  abort "#{path} answered #{status}" unless status == 200
end
puts "#{SolidCache::Entry.count} entries in the cache"
