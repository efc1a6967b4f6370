# Sourced by bin/setup: builds a Ruby with YJIT from Debian's source package into the cache.
# Debian's own binary packages are configured without YJIT, so they will not do.

# debian_source VERSION: prints "package=version suite" of the Debian source package that holds it.
debian_source() {
  case $1 in
    3.4.5) echo "ruby3.4=3.4.5-1~exp1 experimental" ;;
    3.3.8) echo "ruby3.3=3.3.8-2 trixie" ;;
    *) fail "no Debian source package is known for Ruby $1; 3.4.5 and 3.3.8 are. Put another Ruby (>= $minimum_ruby, with YJIT) on PATH instead." ;;
  esac
}

# fetch_ruby_source VERSION FOLDER: leaves the orig tarball in FOLDER, checked by apt against the archive's signature.
# Works on a private sources list; the machine's own lists are read for the mirror's address and not written.
fetch_ruby_source() {
  local version=$1 folder=$2 package suite mirror apt_folder
  read -r package suite <<<"$(debian_source "$version")"
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /security/ { print $3; exit }') || true # fails where apt has no lists yet
  [ -n "$mirror" ] || mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1 | tr -d ' ') || true
  [ -n "$mirror" ] || fail "no Debian mirror found in this machine's apt configuration; put a Ruby >= $minimum_ruby with YJIT on PATH instead"
  apt_folder=$folder/apt
  mkdir -p "$apt_folder/lists/partial" "$apt_folder/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt_folder/sources.list"
  local private=(-q -o "Dir::Etc::SourceList=$apt_folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt_folder/lists" -o "Dir::Cache=$apt_folder" -o "Dir::Cache::archives=$apt_folder/archives"
    -o APT::Sandbox::User=root)
  apt-get "${private[@]}" update || return 1
  (cd "$folder" && apt-get "${private[@]}" source --download-only "$package") || return 1
}

# build_ruby VERSION: about six minutes on two cores. The finished folder appears in one rename, so a build that was
# interrupted is never mistaken for a whole one.
build_ruby() {
  local version=$1 target=$cache/ruby-$1 work log started
  log=$cache/build-ruby-$version.log
  work=$cache/build-ruby-$version.$$
  mkdir -p "$work/source"
  trap 'rm -rf "$work"' EXIT
  started=$SECONDS
  say "      Ruby $version with YJIT is being built into $target (about 6 minutes on 2 cores; log: $log)"
  (
    set -e
    fetch_ruby_source "$version" "$work"
    tar -xf "$work"/ruby*.orig.tar.* -C "$work/source" --strip-components=1
    cd "$work/source"
    : >gems/bundled_gems # make install would download these; rubygems supplies them through the Gemfile
    # -g1: the lines of C for backtraces. All else that a debugger reads (-ggdb3, macros too) costs time to compile, in
    # every gem that is compiled with this Ruby as well.
    ./configure --prefix="$target" --enable-yjit --disable-install-doc --disable-install-rdoc debugflags=-g1 \
      ${baseruby:+--with-baseruby="$baseruby"}
    make -j"$(nproc)"
    make install DESTDIR="$work/installed"
  ) >"$log" 2>&1 &
  wait_with_progress $! "$log" "$started" || { tail -n 15 "$log" >&2; fail "building Ruby $version failed; the whole log is $log"; }
  rm -rf "$target"
  mv "$work/installed$target" "$target"
  usable_ruby "$target/bin/ruby" || fail "the Ruby built in $target has no YJIT; see $log (is rustc >= 1.58 installed?)"
  rm -rf "$work"
  trap - EXIT
}

# wait_with_progress PID LOG STARTED: one line that is rewritten on a terminal, one line a minute elsewhere.
wait_with_progress() {
  local pid=$1 log=$2 started=$3 last=0 elapsed
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    elapsed=$((SECONDS - started))
    if [ -t 2 ]; then
      printf '\r      %d:%02d  %-60.60s' $((elapsed / 60)) $((elapsed % 60)) "$(tail -n 1 "$log" | tr -dc '[:print:]')" >&2
    elif [ $((elapsed / 60)) -gt "$last" ]; then
      last=$((elapsed / 60))
      say "      building for $last min"
    fi
  done
  [ -t 2 ] && printf '\r%80s\r' '' >&2
  wait "$pid"
}
