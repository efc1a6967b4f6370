# Sourced by the set-ups of this lab's two services: labs/real_apps/support.sh, and gems for each Ruby that is here.

. "$(dirname "${BASH_SOURCE[0]}")/../real_apps/support.sh"

# The lab compares these, the older one first: the lockfile is resolved with the oldest that is here, so that all run the same gems.
rubies=(3.3.8 3.4.5)

fail() { say "labs/03-yjit/$application/setup: $*"; exit 2; }

# rubies_here: their folders, and that of the Ruby which runs the project, each once.
rubies_here() {
  local version
  { for version in "${rubies[@]}"; do ruby_folder "$version" || true; done; ruby_folder; } | awk '!seen[$0]++'
}

# gems_of_rubies: one Gemfile and one lockfile, and the gems of each Ruby side by side, as their folders are named after its ABI.
gems_of_rubies() {
  local folder
  rm -f Gemfile.lock
  bundle config set --local path vendor/bundle
  for folder in $(rubies_here); do
    PATH=$folder/bin:$PATH bundle install
    # A Bundler of another version would go and fetch the one that is named here.
    sed -i '/^BUNDLED WITH/,$d' Gemfile.lock
  done
}

# with_each_ruby COMMAND…: runs it with each Ruby that is here.
with_each_ruby() {
  local folder
  for folder in $(rubies_here); do PATH=$folder/bin:$PATH "$@"; done
}

tell_missing_rubies() {
  local version
  for version in "${rubies[@]}"; do
    ruby_folder "$version" >/dev/null || say "      without Ruby $version, which the full form compares: bin/setup --ruby $version, then this again"
  done
}
