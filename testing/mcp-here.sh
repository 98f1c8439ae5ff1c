#!/bin/sh
# Runs the conformance package of the Model Context Protocol against a private server, over HTTP and through isola mcp:
#   testing/mcp-here.sh [PROVIDER]
# Isola's own endpoint runs the scenarios that need no tools, prompts or resources of a reference server. The others run
# with a reference server (testing/mcp/reference_server.mjs) that a sandbox hosts. The package cannot send a key, so a
# proxy adds it; for standard input the proxy starts isola mcp.
set -u
self=$(dirname "$(readlink -f "$0")")
isola=${ISOLA:-$self/../isola}
provider=${1:-bubblewrap}
port=${ISOLA_MCP_PORT:-7796}
scenarios="server-initialize ping tools-list server-sse-multiple-streams dns-rebinding-protection"
for program in npm curl; do
  command -v "$program" >/dev/null || { echo "mcp-here: $program is not installed" >&2; exit 1; }
done
work=$(mktemp -d /tmp/isola-mcp.XXXXXX)
server=
proxies=
stop() {
  trap - EXIT INT TERM HUP
  for process in $proxies $server; do
    kill "$process" 2>/dev/null
    wait "$process" 2>/dev/null
  done
  [ -z "$server" ] || "$isola" purge --yes --data "$work/data" >"$work/purged" 2>&1 || cat "$work/purged" >&2
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# Node of its own, because the package needs version 22.
(cd "$work" && echo '{"private": true}' >package.json &&
  npm install --no-audit --no-fund --silent node@22 @modelcontextprotocol/conformance@0.1.16 &&
  mkdir hosted && cd hosted && echo '{"private": true}' >package.json &&
  npm install --no-audit --no-fund --silent @modelcontextprotocol/sdk@1.32.2 &&
  cp "$self/mcp/reference_server.mjs" .) || {
  echo "NOT RUN: the conformance package cannot be installed" >&2
  exit 1
}
node=$work/node_modules/node/bin/node
package=$work/node_modules/@modelcontextprotocol/conformance/dist/index.js

ISOLA_API_KEY=isk_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
XDG_CONFIG_HOME=$work
ISOLA_URL=http://127.0.0.1:$port
export ISOLA_API_KEY XDG_CONFIG_HOME
"$isola" serve --port "$port" --data "$work/data" --set "provider=$provider" >"$work/out" 2>"$work/err" &
server=$!
tries=0
until curl -sf "$ISOLA_URL/readyz" >/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 600 ] && kill -0 "$server" 2>/dev/null || { cat "$work/err" >&2; exit 1; }
  sleep 0.1
done
export ISOLA_URL

failed=0
run() { # run NAME URL SCENARIO...
  name=$1
  url=$2
  shift 2
  for scenario in "$@"; do
    if "$node" "$package" server --url "$url" --scenario "$scenario" >"$work/log" 2>&1; then
      echo "$name $scenario: $(grep -o 'Passed: .*' "$work/log")"
    else
      echo "$name $scenario: FAILED"
      cat "$work/log"
      failed=1
    fi
  done
}

"$node" "$self/mcp/proxy.mjs" http $((port + 1)) &
proxies=$!
"$node" "$self/mcp/proxy.mjs" stdio $((port + 2)) "$isola" mcp &
proxies="$proxies $!"
until curl -s -o "$work/probe" "http://localhost:$((port + 1))/" && curl -s -o "$work/probe" "http://localhost:$((port + 2))/"; do
  sleep 0.1
done
# shellcheck disable=SC2086 # a list of words
run http "http://localhost:$((port + 1))/mcp" $scenarios
run stdio "http://localhost:$((port + 2))/mcp" server-initialize ping tools-list

command -v node >/dev/null || {
  echo "NOT RUN: the scenarios with a hosted server, because node is not installed" >&2
  exit "$failed"
}
sandbox=$("$isola" create --mcp -- node hosted/reference_server.mjs) && "$isola" cp "$work/hosted" "$sandbox:" || exit 1
all=$("$node" "$package" list --server | sed -n 's/^  - \([a-z0-9-]*\).*/\1/p')
# shellcheck disable=SC2086 # a list of words
run hosted "http://localhost:$((port + 1))/api/v1/sandboxes/$sandbox/mcp" $all
"$isola" rm "$sandbox"
exit "$failed"
