# Sourced by every command in bin/: where things are kept, and which Ruby runs the project.
# Nothing here installs; bin/setup does.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${PUMA_TUNER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/puma_tuner}

default_ruby=3.4.5
minimum_ruby=3.3

say() { printf '%s\n' "$*" >&2; }
fail() { say "bin/$(basename "$0"): $*"; exit 2; }

# usable_ruby RUBY: is it new enough, built with YJIT, and able to compile extensions?
usable_ruby() {
  RUBYOPT='' "$1" --disable-gems --yjit -rrbconfig -e "
    new_enough = (RUBY_VERSION.split('.').map(&:to_i) <=> [${minimum_ruby/./, }]) >= 0
    exit new_enough && defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? && File.exist?(RbConfig::CONFIG['rubyhdrdir'])
  " >/dev/null 2>&1
}

# ruby_folder VERSION: prints the folder whose bin/ holds that Ruby; fails when setup has not provided it.
# Without a version: the one that setup has chosen, for which the gems are there; before that the Ruby on PATH when it will do,
# else the one built by setup.
ruby_folder() {
  local wanted=${1:-} chosen
  if [ -z "$wanted" ]; then
    chosen=$(cat "$project/tmp/ruby" 2>/dev/null) && usable_ruby "$chosen/bin/ruby" && { echo "$chosen"; return; }
    # On PATH may be a version manager's script, which runs another Ruby in another folder.
    usable_ruby ruby && { RUBYOPT='' ruby --disable-gems -rrbconfig -e 'puts RbConfig::CONFIG["prefix"]'; return; }
    wanted=$default_ruby
  fi
  [ -x "$cache/ruby-$wanted/bin/ruby" ] && echo "$cache/ruby-$wanted"
}

# keep_environment: what use_ruby changes, as the caller has it, for the app that a command starts (lib/puma_tuner/host/user_environment.rb).
keep_environment() {
  local name
  [ -z "${PUMA_TUNER_CALLER_PATH+set}" ] || return 0 # a command of ours called this one
  for name in PATH RUBYOPT RUBYLIB GEM_HOME GEM_PATH "${!BUNDLE@}"; do
    [ -z "${!name+set}" ] || export "PUMA_TUNER_CALLER_$name=${!name}"
  done
}

# use_ruby FOLDER: puts it and the project's gems in front of everything the caller had.
use_ruby() {
  unset RUBYOPT RUBYLIB GEM_HOME GEM_PATH
  export PATH="$project/exe:$1/bin:$PATH"
  local abi
  abi=$("$1/bin/ruby" -e 'print RUBY_VERSION')
  export BUNDLE_GEMFILE=$project/Gemfile
  export BUNDLE_PATH="$cache/gems-$abi" BUNDLE_APP_CONFIG="$cache/bundle-config" BUNDLE_SILENCE_ROOT_WARNING=1
  export PUMA_TUNER_CACHE="$cache"
  # Where nothing was kept, it is the project's own tests and benchmarks that start apps: with this Ruby, and without this bundle.
  export PUMA_TUNER_CALLER_PATH="${PUMA_TUNER_CALLER_PATH-$PATH}"
}
