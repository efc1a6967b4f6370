# frozen_string_literal: true

require "test_helper"

class ReportProfilePlacesTest < TunerTest
  Profile = PumaTuner::Report::Sections::Profile

  test "whose code a file is follows from its path, also where Ruby's own folder has the gems" do
    owners = {
      nil => :ruby, "<internal:kernel>" => :ruby, "/opt/ruby/lib/ruby/3.4.0/set.rb" => :ruby,
      "/app/models/order.rb" => :app, "/usr/local/bundle/gems/rack-3.1.8/lib/rack.rb" => :gem,
      "/opt/ruby/lib/ruby/gems/3.4.0/gems/puma-8.0.2/lib/puma/server.rb" => :gem,
      "/app/vendor/bundle/ruby/3.4.0/bundler/gems/rails-e0b1d2c3a4f5/activerecord/lib/active_record.rb" => :gem
    }
    assert_equal owners, owners.keys.to_h { |path| [path, Profile.owner(path)] }
  end

  test "a gem's place begins with its name" do
    path = "/opt/ruby/lib/ruby/gems/3.4.0/gems/puma-8.0.2/lib/puma/server.rb"
    assert_equal "puma-8.0.2/lib/puma/server.rb:12", Profile.place(path, 12)
    assert_equal ["ruby/set.rb", "C"], [Profile.place("/opt/ruby/lib/ruby/3.4.0/set.rb"), Profile.place(nil)]
  end
end
