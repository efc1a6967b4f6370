# Sourced by the setups of redmine and redmine_pg: Redmine's files in the folder of the application, and the records in its database.
redmine_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# lay_out SOURCE DATABASE_YML: everything but the gems, the lockfile and the unpacked package is made anew: half a database has no part that is worth keeping.
lay_out() {
  find "$folder" -mindepth 1 -maxdepth 1 ! -name .setup ! -name .bundle ! -name vendor ! -name source ! -name Gemfile ! -name Gemfile.lock -exec rm -rf {} +
  (cd "$1" && tar -c --exclude=./Gemfile --exclude=./Gemfile.lock --exclude=./instances --exclude=./config/database.yml .) | tar -x
  # They lead to Debian's packages of JavaScript, which are not here; pages are served without them.
  find public -xtype l -delete
  # Where Debian's patch looks for the settings, logs and files of the one site there is.
  mkdir -p instances/default/config instances/default/log instances/default/tmp/cache log tmp plugins public/plugin_assets
  cp "$2" config/database.yml
  cp "$2" instances/default/config/database.yml
  cp "$redmine_here/additional_environment.rb" "$redmine_here/ruby_3_4.rb" "$redmine_here/puma.rb" config/
  sed -i '1i require File.expand_path("../ruby_3_4", __FILE__)' config/boot.rb
}

fill() {
  export RAILS_ENV=production REDMINE_LANG=en
  bundle exec rake db:migrate
  # By itself, as models that a migration has used know the columns of then.
  bundle exec rake redmine:load_default_data
  bundle exec ruby bin/rails runner "$redmine_here/records.rb"
}

# What a tracker is made of, for `step`.
tracker_inputs=("$redmine_here/tracker.sh" "$redmine_here/additional_environment.rb" "$redmine_here/puma.rb" "$redmine_here/records.rb" "$redmine_here/ruby_3_4.rb")
