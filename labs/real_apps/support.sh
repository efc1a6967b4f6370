# Sourced by each application's setup: where the application goes, and how its steps are run once and repaired.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../../bin/support/environment.sh"

application=$(basename "$here")
folder=$cache/apps/$application
log=$cache/apps/$application.log

fail() { say "labs/real_apps/$application/setup: $*"; exit 2; }

# begin: takes the lock, so that two set-ups never write into one folder, and the project's Ruby. Within the folder
# the application's own gems count, so what use_ruby says of the project's bundle is taken back.
begin() {
  local ruby
  ruby=$(ruby_folder) || fail "no Ruby >= $minimum_ruby with YJIT yet; run bin/setup first"
  use_ruby "$ruby"
  unset BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_APP_CONFIG
  mkdir -p "$folder/.setup"
  exec 9>"$cache/apps/$application.lock"
  flock -n 9 || { say "      another set-up of $application is running; waiting for it"; flock 9; }
  cd "$folder"
  : >"$log"
  so_far=$(ruby -e 'print RUBY_DESCRIPTION')
}

# step TITLE FUNCTION INPUT…: runs FUNCTION unless it has finished with these input files, this Ruby and the same steps
# before it. The stamp is written last, so an interrupted step runs again; FUNCTION therefore starts from nothing or
# from whatever it left behind.
step() {
  local title=$1 function=$2 stamp=$folder/.setup/$2 started=$SECONDS
  shift 2
  so_far=$({ printf '%s\n' "$so_far"; declare -f "$function"; find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 cat; } | sha256sum)
  if [ "$(cat "$stamp" 2>/dev/null)" = "$so_far" ]; then
    say "      $title: done before"
    return
  fi
  say "      $title"
  rm -f "$stamp"
  # A child of its own, because bash ignores `set -e` in a function whose failure somebody handles. It inherits the
  # lock, so that what a killed set-up left running is waited for by the next.
  set +e
  (set -e; "$function") </dev/null >>"$log" 2>&1
  local status=$?
  set -e
  [ $status = 0 ] || { tail -n 15 "$log" >&2; fail "$title failed; the whole log is $log"; }
  printf '%s\n' "$so_far" >"$stamp"
  say "      $title: $((SECONDS - started)) s"
}

# gems: the application's own, inside its folder. The lockfile is resolved anew, as the Gemfile's pins may have moved.
gems() {
  cp "$here/Gemfile" Gemfile
  rm -f Gemfile.lock
  bundle config set --local path vendor/bundle
  bundle install
}

# debian_packages NAME…: installs those that are missing, or says which they are.
debian_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q '^install ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "this is no Debian machine; install the equivalents of: ${missing[*]}"
  [ "$(id -u)" = 0 ] || fail "these Debian packages are missing; install them and run this again:
  sudo apt-get install ${missing[*]}"
  say "      installing ${missing[*]}"
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; } >>"$log" 2>&1 ||
    { tail -n 10 "$log" >&2; fail "installing ${missing[*]} failed; the whole log is $log"; }
}

# ready [PROGRAM]: PROGRAM starts what serves the application, where it takes more than Puma.
ready() {
  local requests=labs/real_apps/$application/requests.txt server="${1:-} $(ruby_folder)/bin/bundle exec puma"
  cat <<TEXT
$application is in $folder
Check it:  bin/exec labs/real_apps/check $folder $requests
Tune it:   bin/exec puma_tuner tune --directory $folder --requests $requests -- ${server# }
TEXT
}
