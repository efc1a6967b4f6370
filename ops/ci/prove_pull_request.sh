#!/bin/sh
# Does a request take more CPU than before the change that is checked out? For any CI, and for your own machine:
#
#   BASE=origin/main sh prove_pull_request.sh config.ru --path /articles
#
# What follows its name goes to `puma_tuner prove`. Exit codes: 0, a request takes less than 5% more CPU; 1, that is not shown: it takes more,
# or the machine was too noisy to tell; 2, something has to be written or fetched before; 3, nothing could be measured, such as when the base
# does not boot. The summary says which, also where nothing was measured. docs/guides/ci.md tells more.
#
#   BASE      what the change is held against (origin/main); fetched where the clone is shallow
#   MARGIN    percent that a change may cost (5)
#   LOOKS     rounds after which it may be decided (8,16,32)
#   TIME      how long it may take (15m)
#   SUMMARY   file for the summary in Markdown (verdict.md); the verdict goes beside it, as JSON
set -eu
base=${BASE:-origin/main} margin=${MARGIN:-5} looks=${LOOKS:-8,16,32} time=${TIME:-15m} summary=${SUMMARY:-verdict.md}

commit() { git rev-parse --verify --quiet "$1^{commit}"; }

case $base in
  origin/*) commit "$base" >/dev/null || git fetch --quiet --depth=1 origin "${base#origin/}:refs/remotes/$base" || true ;; # prove says what is missing
esac
# What the change began from, where the clone has it: what others have done since is not the change's.
from=$(git merge-base "$base" HEAD 2>/dev/null) || from=$base
if [ "$(commit "$from")" = "$(commit HEAD)" ]; then
  echo "there is no change since $base" | tee "$summary"
  exit 0
fi
exec puma_tuner prove --variant "base:git=$from" --variant "change:git=HEAD" \
  --primary cpu_per_request --expect "cpu_per_request not worse" --equivalent "$margin" \
  --looks "$looks" --time "$time" --duration 2 --warmup-window 0.4 --probe-duration 0 --noise-rounds 0 \
  --markdown "$summary" --output "${summary%.md}.json" "$@"
