#!/bin/sh
# Runs every test program in both flavours and adds up their counts. usage: run.sh OUT TEST...
set -u
out=$1
shift
passed=0
failed=0
for flavour in release sanitize; do
  if [ "$flavour" = sanitize ]; then
    AGENT=$out/isola-agent-sanitize
    SANITIZED=1
    # The agent has no standard error once it is detached: what the sanitizers say goes to files, looked at below.
    rm -f "$out"/sanitize/report.*
    ASAN_OPTIONS=log_path=$out/sanitize/report
    UBSAN_OPTIONS=log_path=$out/sanitize/report:print_stacktrace=1
    export SANITIZED ASAN_OPTIONS UBSAN_OPTIONS
  else
    AGENT=$out/isola-agent
  fi
  export AGENT
  for test in "$@"; do
    [ "$test" = fuzz_frames ] && words=$FUZZ_SECONDS || words=
    # shellcheck disable=SC2086 # no word or one
    "$out/$flavour/$test" $words >"$out/$flavour/$test.log" 2>&1
    status=$?
    line=$(tail -n 1 "$out/$flavour/$test.log")
    case $line in
      *' passed, '*' failed')
        passed=$((passed + ${line%% *}))
        rest=${line#* passed, }
        failed=$((failed + ${rest%% *}))
        ;;
      *)
        failed=$((failed + 1))
        line="did not finish (status $status)"
        ;;
    esac
    echo "$flavour $test: $line"
    if [ "$status" != 0 ]; then
      grep -v '^ok ' "$out/$flavour/$test.log" | tail -n 40
    else
      grep '^NOT RUN' "$out/$flavour/$test.log"
    fi
  done
done
for report in "$out"/sanitize/report.*; do
  [ -e "$report" ] || continue
  echo "FAILED a sanitizer spoke up: $report"
  head -n 30 "$report"
  failed=$((failed + 1))
done
size=$(wc -c <"$out/isola-agent")
if [ "$size" -lt 1048576 ]; then
  passed=$((passed + 1))
else
  echo "FAILED the agent has $size bytes; it must stay below 1 MiB"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed" | tee "$out/c-tests.txt"
[ "$failed" = 0 ]
