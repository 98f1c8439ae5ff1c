#!/bin/sh
# Tests the HTTP API with schemathesis, which generates requests from the OpenAPI document of a private server and checks
# every response against it: no server error, no undeclared status, content type or field, nothing accepted that the
# document forbids, 405 for undeclared methods, 401 without a key.
#   testing/schemathesis-here.sh [OPTION...]      options go to schemathesis run, such as --include-operation-id exec
# All phases (examples, coverage, fuzzing, stateful), 50 examples per operation unless ISOLA_SCHEMATHESIS_EXAMPLES says
# otherwise, one worker. Sandboxes are of the provider ISOLA_SCHEMATHESIS_PROVIDER, bubblewrap by default, because
# generated commands run in them. testing/schemathesis/schemathesis.toml says which checks are off, and why.
set -u
self=$(dirname "$(readlink -f "$0")")
isola=${ISOLA:-$self/../isola}
port=${ISOLA_SCHEMATHESIS_PORT:-7798}
for program in python3 curl; do
  command -v "$program" >/dev/null || { echo "schemathesis-here: $program is not installed" >&2; exit 1; }
done
work=$(mktemp -d /tmp/isola-schemathesis.XXXXXX)
server=
reaper=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$reaper" ] || { kill "$reaper" 2>/dev/null; wait "$reaper" 2>/dev/null; }
  [ -z "$server" ] || {
    python3 "$self/schemathesis/reaper.py" --all
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
  }
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

venv=${ISOLA_SCHEMATHESIS_VENV:-$work/venv}
if [ ! -x "$venv/bin/schemathesis" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q -r "$self/schemathesis/requirements.txt"; } \
    >"$work/pip.log" 2>&1 || { cat "$work/pip.log" >&2; exit 1; }
fi

ISOLA_API_KEY=isk_$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
ISOLA_URL=http://127.0.0.1:$port
export ISOLA_API_KEY ISOLA_URL
"$isola" serve --data "$work/data" --port "$port" --set "provider=${ISOLA_SCHEMATHESIS_PROVIDER:-bubblewrap}" \
  --set server.auth.failures=0 >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  curl -sf "$ISOLA_URL/readyz" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.5
done

# The sandbox that most operations use, and one for the operations that end or suspend it.
post() {
  curl -sf -X POST -H "Authorization: Bearer $ISOLA_API_KEY" -H 'Content-Type: application/json' -d "$2" "$ISOLA_URL$1"
}
id() {
  sed -n 's/^{"id":"\([^"]*\)".*/\1/p'
}
SANDBOX=$(post /api/v1/sandboxes '{"id":"steady"}' | id)
DOOMED=$(post /api/v1/sandboxes '{"id":"doomed"}' | id)
EXECUTION=$(post "/api/v1/sandboxes/$SANDBOX/executions" '{"command":"sleep 1; echo done"}' |
  sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
SNAPSHOT=$(post "/api/v1/sandboxes/$SANDBOX/snapshots" '{}' | id)
VOLUME=cache
post /api/v1/volumes '{"name":"cache"}' >/dev/null || echo 'schemathesis-here: the provider has no volumes' >&2
for value in "$SANDBOX" "$DOOMED" "$EXECUTION" "$SNAPSHOT"; do
  [ -n "$value" ] || { echo 'schemathesis-here: cannot create what the requests use' >&2; tail "$work/server.log" >&2; exit 1; }
done
export SANDBOX DOOMED EXECUTION SNAPSHOT VOLUME

# Ends what was created, so that the load stays bounded.
python3 "$self/schemathesis/reaper.py" &
reaper=$!

cd "$work" || exit 1
SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$self/schemathesis "$venv/bin/schemathesis" \
  --config-file "$self/schemathesis/schemathesis.toml" run "$ISOLA_URL/api/v1/openapi.json" \
  --phases examples,coverage,fuzzing,stateful --max-examples "${ISOLA_SCHEMATHESIS_EXAMPLES:-50}" --workers 1 \
  --continue-on-failure "$@"
code=$?
if grep -q 'failed: ' "$work/server.log"; then
  echo 'schemathesis-here: the server logged internal errors:' >&2
  grep -A 8 'failed: ' "$work/server.log" | head -n 60 >&2
  code=1
fi
exit $code
