#!/bin/sh
# Builds the C programs for aarch64 and runs the tests of the agent and the launcher with QEMU's user emulation. What it
# cannot run is in aarch64-left-out.tsv, with the reason. Writes lines "NOT RUN: NAME: REASON", then a last line
# "N passed, N failed, N skipped" to OUT/c-tests-aarch64.txt. usage: run-aarch64.sh OUT TEST...
# With LEFT_OUT=try in the environment runs only what is left out: a test that passes fails the run. LIMIT is the number
# of seconds after which a test program is killed.
set -u
out=$1
shift
list=test/aarch64-left-out.tsv
cross=aarch64-linux-gnu-gcc
emulator=qemu-aarch64
build=$out/aarch64
result=$out/c-tests-aarch64.txt
tab=$(printf '\t')
passed=0
failed=0
skipped=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $1"
}

not_run() {
  skipped=$((skipped + 1))
  echo "NOT RUN: $1" | tee -a "$result"
}

end() {
  echo "$passed passed, $failed failed, $skipped skipped" | tee -a "$result"
  [ "$failed" = 0 ]
  exit
}

# builds TITLE MAKE-ARGUMENT...: its output only if it fails.
builds() {
  title=$1
  shift
  if make "$@" >"$build/make.log" 2>&1; then
    passed=$((passed + 1))
  else
    tail -n 40 "$build/make.log"
    fail "$title cannot be built for aarch64"
    return 1
  fi
}

# The two passes of agent_test run concurrently, because they mostly wait.
arguments() {
  case $1 in
  agent_test) echo subreaper namespace ;;
  fuzz_frames) echo 1 ;; # second
  *) echo - ;;
  esac
}

# run TEST ARGUMENT: output to a file beside the program, with the exit status as the last line.
run() {
  words=$2
  [ "$words" != - ] || words=
  # shellcheck disable=SC2086 # zero or one argument
  timeout "$limit" "$emulator" "$build/release/$1" $words >"$build/$1.$2.log" 2>&1 </dev/null
  echo $? >"$build/$1.$2.status"
}

count() {
  log=$build/$1.$2.log
  read -r status <"$build/$1.$2.status"
  line=$(tail -n 1 "$log")
  case $line in
  *' passed, '*' failed')
    rest=${line#* passed, }
    passed=$((passed + ${line%% *}))
    failed=$((failed + ${rest%% *}))
    ;;
  *) fail "$1 did not finish (status $status)" ;;
  esac
  echo "aarch64 $1 $2: $line"
  [ "$status" = 0 ] || grep -v -e '^ok ' -e '^NOT RUN ' "$log" | tail -n 40
  sed -n 's/^NOT RUN //p' "$log" >"$log.not-run"
  while IFS= read -r reason; do not_run "$reason"; done <"$log.not-run"
}

# Runs each test that is left out on its own. One that passes wherever it runs need not be left out.
try_left_out() {
  limit=60
  unset CHECK_LEFT_OUT
  while IFS=$tab read -r CHECK_ONLY reason; do
    case $CHECK_ONLY in '#'* | *' '*) continue ;; esac
    export CHECK_ONLY
    problem=
    for test in "$@"; do
      grep -qw "$CHECK_ONLY" "$build/release/$test" || continue
      for argument in $(arguments "$test"); do
        run "$test" "$argument"
        problem=$problem$(grep -v -e '^ok ' -e '^NOT RUN ' "$build/$test.$argument.log" | grep -m 1 'test/')
      done
    done
    if [ -n "$problem" ]; then
      not_run "$CHECK_ONLY: $reason:$problem"
    else
      fail "$list leaves out $CHECK_ONLY, which passes"
    fi
  done <"$list"
}

mkdir -p "$build"
: >"$result"
why=
[ "$(uname -m)" != aarch64 ] || why='this machine is aarch64: its own tests are those'
for tool in $cross $emulator; do
  [ -n "$why" ] || command -v "$tool" >/dev/null || why="$tool is not installed"
done
if [ -n "$why" ]; then
  for test in "$@"; do not_run "$test: $why"; done
  end
fi

builds 'the agent' OUT="$build" CC="$cross" all || end
builds 'the tests' OUT="$build" CC="$cross -static" tests || end
builds 'the launcher' -C ../../host/launcher OUT="$build" CC="$cross" all
builds 'the program of the escape probes' -C ../../contract/conformance OUT="$build" CC="$cross" all
builds 'the program of the benchmarks' -C ../../bench OUT="$build" CC="$cross" all

case $("$emulator" "$build/isola-launch" </dev/null 2>&1) in
'error the plan is empty') passed=$((passed + 1)) ;;
*) fail 'the launcher does not refuse an empty plan' ;;
esac

# Tests execute the agent, and the kernel executes no programs of another architecture.
AGENT=$build/agent
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$build/isola-agent" >"$AGENT"
chmod 755 "$AGENT"
CHECK_LEFT_OUT=$PWD/$list
export AGENT CHECK_LEFT_OUT

if [ "${LEFT_OUT:-}" = try ]; then
  try_left_out "$@"
  end
fi

limit=${LIMIT:-600} # seconds, for a machine that is busy
for argument in $(arguments agent_test); do run agent_test "$argument" & done
for test in "$@"; do
  [ "$test" != agent_test ] || continue
  for argument in $(arguments "$test"); do run "$test" "$argument"; done
done
wait
for test in "$@"; do
  for argument in $(arguments "$test"); do count "$test" "$argument"; done
done

# What is no test of a program here has a name of several words. A name of one word must be the name of a test.
while IFS=$tab read -r name reason; do
  case $name in
  '#'*) ;;
  *' '*) not_run "$name: $reason" ;;
  *) grep -qw "RUN($name)" test/*.c || fail "$list names $name, which is not a test" ;;
  esac
done <"$list"
end
