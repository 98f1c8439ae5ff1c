#!/bin/sh
# Runs hostile cases against what sandboxes in network mode filtered reach, on a test internet of its own:
#   testing/egress-here.sh [PROVIDER...] [--quick] [--only TEXT,...]     the default is bubblewrap
#   testing/egress-here.sh bubblewrap bubblewrap-rootless crun runc gvisor
#   testing/engines-here.sh --docker testing/egress-here.sh docker
#   testing/egress-here.sh clients [PROVIDER]      curl, git, pip, npm, Python, Node, Java and psql with and without rules
#   testing/egress-here.sh soak [MINUTES] [PROVIDER]   1,000 connections a minute, 10 minutes by default; server's memory
#   testing/egress-here.sh secret_scan [PROVIDER]  a planted secret arrives at its host and is found nowhere else
#   testing/egress-here.sh neighbour [SECONDS] [PROVIDER] [ATTACK,...]   what another sandbox and the host notice of attacks
# Each case attacks from inside of a sandbox of a live server, asserts what was observed inside and what arrived on the
# internet, and ends with a control that passes because it is allowed. A table of cases is printed at the end.
# --quick selects the cases that ./check runs. Needs root; PROVIDER-rootless runs the server as an ordinary user.
set -u
self=$(dirname "$(readlink -f "$0")")
export ISOLA="${ISOLA:-$self/../isola}"
"$ISOLA" --version >/dev/null || exit # builds before the internet of this machine is out of reach
program=suite.py
case ${1:-} in
clients | soak | secret_scan | neighbour)
  program=$1.py
  shift
  ;;
esac
exec "$self/internet-here.sh" python3 -B "$self/egress/$program" "$@"
