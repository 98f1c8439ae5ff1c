#!/bin/sh
# Runs every test program in both flavours concurrently, because they mostly wait, and the agent's test again as an
# unprivileged user. Sums up their counts. usage: run.sh OUT TEST...
set -u
out=$1
shift

# Prints "NAME: last line" and the failures; writes "passed failed" to LOG.count. usage: one NAME LOG COMMAND...
one() {
  name=$1
  log=$2
  shift 2
  "$@" >"$log" 2>&1
  status=$?
  line=$(tail -n 1 "$log")
  case $line in
    *' passed, '*' failed')
      rest=${line#* passed, }
      echo "${line%% *} ${rest%% *}" >"$log.count"
      ;;
    *)
      line="did not finish (status $status)"
      echo "0 1" >"$log.count"
      ;;
  esac
  echo "$name: $line"
  if [ "$status" != 0 ]; then
    grep -v '^ok ' "$log" | tail -n 40
  else
    grep '^NOT RUN' "$log"
  fi
}

all_of() {
  flavour=$1
  shift
  for test in "$@"; do
    [ "$test" = fuzz_frames ] && words=$FUZZ_SECONDS || words=
    # shellcheck disable=SC2086 # zero or one argument
    one "$flavour $test" "$out/$flavour/$test.log" "$out/$flavour/$test" $words
  done
}

release() {
  AGENT=$out/isola-agent
  export AGENT
  all_of release "$@"
}

sanitize() {
  AGENT=$out/isola-agent-sanitize
  SANITIZED=1
  # A detached agent has no standard error: the sanitizers report to files, which are checked below.
  ASAN_OPTIONS=log_path=$out/sanitize/report
  UBSAN_OPTIONS=log_path=$out/sanitize/report:print_stacktrace=1
  export AGENT SANITIZED ASAN_OPTIONS UBSAN_OPTIONS
  all_of sanitize "$@"
  for target in $FUZZERS; do
    one "sanitize corpus of $target" "$out/sanitize/fuzz_$target.log" \
      "$out/sanitize/fuzz_${target}_corpus" test/corpus/"$target"/*
  done
}

# An unprivileged user creates its namespaces differently and may not read the agent.
ordinary_user() {
  if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
    echo 'NOT RUN agent_test as an unprivileged user: not root, or no setpriv'
    return
  fi
  shared=$(mktemp -d)
  chmod 755 "$shared"
  cp "$out/isola-agent" "$out/release/agent_test" "$shared"
  AGENT=$shared/isola-agent
  export AGENT
  one 'release agent_test as an unprivileged user' "$out/release/agent_test-user.log" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$shared/agent_test"
  rm -rf "$shared"
}

rm -f "$out"/sanitize/report.* "$out"/*/*.log.count
sanitize "$@" &
release "$@"
one 'modules' "$out/release/modules_test.log" sh test/modules_test.sh "$out"
ordinary_user
wait

passed=0
failed=0
for count in "$out"/*/*.log.count; do
  read -r good bad <"$count"
  passed=$((passed + good))
  failed=$((failed + bad))
done
for report in "$out"/sanitize/report.*; do
  [ -e "$report" ] || continue
  echo "FAILED sanitizer report: $report"
  head -n 30 "$report"
  failed=$((failed + 1))
done
size=$(wc -c <"$out/isola-agent")
if [ "$size" -lt 1048576 ]; then
  passed=$((passed + 1))
else
  echo "FAILED the agent has $size bytes; the maximum is 1 MiB"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed" | tee "$out/c-tests.txt"
[ "$failed" = 0 ]
