#!/bin/sh
# Measures the dashboard in Chromium with 1,000 sandboxes and 50 events in a second, for ten minutes, against a server
# that it starts: how long an interaction takes, and whether the memory of the page grows.
#   testing/dashboard-load-here.sh          SANDBOXES, EVENTS and MINUTES in the environment change the figures
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$here")
work=$(mktemp -d /tmp/isola-load.XXXXXX)
cp "$root"/dashboard/src/test/browser/load.mjs "$root"/dashboard/src/test/browser/package*.json \
  "$root"/dashboard/src/test/browser/.npmrc "$work/"
(cd "$work" && npm ci --no-audit --no-fund --loglevel=error >/dev/null)

ISOLA_API_KEY=isk_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
ISOLA_DATA=$work/data
export ISOLA_API_KEY ISOLA_DATA
"$root/isola" serve --port 0 >"$work/out" 2>"$work/log" &
server=$!
end() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  "$root/isola" purge --yes >/dev/null 2>&1 || echo "dashboard-load-here: $ISOLA_DATA is not removed" >&2
  rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM
for _ in $(seq 300); do
  grep -q listening "$work/out" && break
  sleep 1
done
ISOLA_URL=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$work/out" | sed 's/127\.0\.0\.1/localhost/')
export ISOLA_URL
for _ in $(seq 60); do
  curl -sf "$ISOLA_URL/readyz" >/dev/null && break
  sleep 1
done
ISOLA_TEST_CHROMIUM=$(command -v chromium) node "$work/load.mjs"
