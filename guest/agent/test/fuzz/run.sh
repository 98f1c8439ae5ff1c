#!/bin/sh
# Runs targets with libFuzzer for FUZZ_SECONDS each, on their corpora; what they find is in OUT/fuzz/found-TARGET, a folder
# because targets with a root of their own see nothing else. Leaves the count in OUT/c-fuzz.txt. usage: run.sh OUT TARGET...
set -u
out=$1
shift
passed=0
failed=0
skipped=0
result=$out/c-fuzz.txt
mkdir -p "$out/fuzz"

if ! command -v "$CLANG" >/dev/null; then
  for target in "$@"; do echo "NOT RUN: fuzzing of $target: $CLANG is not installed"; done | tee "$result"
  echo "0 passed, 0 failed, $# skipped" | tee -a "$result"
  exit
fi
if ! make -s OUT="$out" fuzz-programs; then
  echo '0 passed, 1 failed' | tee "$result"
  exit 1
fi
for target in "$@"; do
  new=$out/fuzz/corpus-$target
  found=$out/fuzz/found-$target
  mkdir -p "$new" "$found"
  log=$out/fuzz/$target.log
  "$out/fuzz/fuzz_$target" -max_total_time="$FUZZ_SECONDS" -max_len=8192 -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$found/" "$new" "test/corpus/$target" >"$log" 2>&1
  status=$?
  if grep '^NOT RUN' "$log"; then
    skipped=$((skipped + 1))
  elif [ "$status" = 0 ]; then
    passed=$((passed + 1))
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  else
    failed=$((failed + 1))
    echo "FAILED $target"
    tail -n 40 "$log"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped" | tee "$result"
[ "$failed" = 0 ]
