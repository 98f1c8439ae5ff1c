#!/bin/sh
# Finds tests that do not always end the same way: runs the suite several times on a machine that is made slow, and
# lists each test with more than one outcome. The exit status is 0 if there is none, and none failed.
#   testing/flakes-here.sh 10                    ./check, ten times
#   testing/flakes-here.sh 3 --all -pl engine    with options of ./check
# The check has all processors but one; beside it stress-ng computes on each processor that it has, and writes to the
# disk with fsync. Results of each run are kept in target/flakes.
set -u
self=$(readlink -f "$0")
root=$(dirname "${self%/*}")
. "$root/.build/lib.sh"
cd "$root" || exit

runs=${1:-}
case $runs in '' | *[!0-9]* | 0) fail 64 'usage: testing/flakes-here.sh RUNS [OPTION OF ./check]...' ;; esac
shift
need stress-ng:stress-ng taskset:util-linux

out=$root/target/flakes
rm -rf "$out"
mkdir -p "$out/disk"
processors=$(nproc)
[ "$processors" -gt 1 ] && last=$((processors - 2)) || last=0

load=
stop_load() {
  [ -z "$load" ] || kill "$load" 2>/dev/null
  [ -z "$load" ] || wait "$load" 2>/dev/null
  load=
  rm -rf "$out/disk"
}
trap 'stop_load; exit 130' INT TERM HUP
trap stop_load EXIT

./check --rerun "$@" -Dtest=NoSuchClass >"$out/build.log" 2>&1 || { cat "$out/build.log"; fail 70 'the build failed'; }
taskset -c "0-$last" stress-ng --quiet --cpu "$((last + 1))" --hdd 1 --hdd-bytes 256m --hdd-opts fsync \
  --temp-path "$out/disk" &
load=$!

run=0
while [ "$run" -lt "$runs" ]; do
  run=$((run + 1))
  started=$(date +%s)
  taskset -c "0-$last" ./check --rerun "$@" >"$out/run-$run.log" 2>&1
  status=$?
  cp target/check/results.tsv "$out/run-$run.tsv" || fail 70 "run $run left no results; its log is $out/run-$run.log"
  echo "run $run of $runs: $(tail -n 1 "$out/run-$run.log") (exit $status, $(($(date +%s) - started)) s)"
done
stop_load

# A name that stands for several tests has as outcome all of theirs.
awk -F '\t' -v runs="$runs" '
  { test = $2 ": " $3; seen[test] = 1; outcome[test, FILENAME] = outcome[test, FILENAME] " " $4
    if ($4 == "FAILED" && !(test in reason)) { reason[test] = substr($6, 1, 300) }
    files[FILENAME] = 1 }
  END {
    for (test in seen) {
      delete kinds; count = 0
      for (file in files) {
        kind = (test, file) in outcome ? outcome[test, file] : " absent"
        gsub(/_/, " ", kind)
        if (kinds[kind]++ == 0) { count++ }
      }
      if (count > 1 || test in reason) {
        text = test
        for (kind in kinds) { text = text sprintf("%s in %d;", kind, kinds[kind]) }
        print text
        if (test in reason) { print "    " reason[test] }
        different++
      }
    }
    printf "%d of %d tests failed or differed in %d runs\n", different, length(seen), runs
    exit different > 0
  }' "$out"/run-*.tsv
