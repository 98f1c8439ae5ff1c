#!/bin/sh
# Runs the checks of forks of memory against gvisor with one runsc:
#   testing/memory-forks-here.sh [RUNSC]
# RUNSC is a path or a name on the PATH, runsc by default. Each check prints what it measured; the exit status is 0 if
# none failed and some ran. With a runsc that cannot save sandboxes all are NOT RUN, with the reason, and the status is 1.
# docs/providers/oci.md says how to get a newer one than Debian's.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")

fail() {
  echo "memory-forks-here: $*" >&2
  exit 69
}

[ "$(id -u)" = 0 ] || fail 'gvisor needs root'
runsc=$(command -v "${1:-runsc}") || fail "${1:-runsc} is not installed"
runsc=$(readlink -f "$runsc")
case $runsc in
/tmp/*) fail "$runsc is beneath /tmp, which the launcher covers: copy it elsewhere" ;;
esac
"$runsc" --version | head -n 1
exec "$root/isola" conformance gvisor --only MemoryForking,MemoryForkLifecycle --set "program=$runsc" --verbose
