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
# Once more as an ordinary user, who gets its namespaces another way and may not read the agent.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  shared=$(mktemp -d)
  chmod 755 "$shared"
  cp "$out/isola-agent" "$out/release/agent_test" "$shared"
  AGENT=$shared/isola-agent setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$shared/agent_test" >"$out/release/agent_test-user.log" 2>&1
  line=$(tail -n 1 "$out/release/agent_test-user.log")
  rm -rf "$shared"
  echo "release agent_test as an ordinary user: $line"
  case $line in
    *' passed, 0 failed') passed=$((passed + ${line%% *})) ;;
    *)
      grep -v '^ok ' "$out/release/agent_test-user.log" | tail -n 40
      failed=$((failed + 1))
      ;;
  esac
else
  echo 'NOT RUN agent_test as an ordinary user beside root: not root, or no setpriv'
fi
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
