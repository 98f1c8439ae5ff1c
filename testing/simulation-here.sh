#!/bin/sh
# Simulates many servers on one database, with injected failures, and prints a report.
#   testing/simulation-here.sh                            100 servers, 1,000,000 sandboxes
#   testing/simulation-here.sh SERVERS SANDBOXES [SEED]   other numbers
#   testing/simulation-here.sh growth                     a table of several sizes
set -eu
self=$(readlink -f "$0")
root=${self%/testing/*}
. "$root/.build/lib.sh"
cd "$root"
find_jdk

maven -q test-compile -pl testing/simulation -am >&2
module=testing/simulation/target
simulate() {
  "$jdk/bin/java" -Xmx8g -XX:+UseParallelGC \
    -cp "$module/test-classes:$(cat $module/simulation.classpath)" dev.isola.simulation.SimulationCommand "$@"
}

case ${1:-} in
'') simulate 100 1000000 ;;
growth)
  for size in '1 1000' '1 10000' '1 100000' '10 10000' '10 100000' '100 10000' '100 100000' '100 1000000'; do
    # shellcheck disable=SC2086
    simulate $size
    echo
  done
  ;;
*) simulate "$@" ;;
esac
