#!/bin/sh
# Runs the quick starts of packages that build on E2B's SDKs against a private server; only environment variables differ
# from a run against E2B. No language model is called.
#   testing/e2b-integrations-here.sh [PROVIDER] [NAME...]
# NAME is one of: code-interpreter code-interpreter-py smolagents langchain openai-agents computesdk; the default is all.
# Prints PASS, FAIL or NOT RUN with the reason for each, and exits with 1 if one failed.
set -u
self=$(dirname "$(readlink -f "$0")")
provider=${1:-bubblewrap}
[ "$#" -eq 0 ] || shift
[ "$#" -gt 0 ] || set -- code-interpreter code-interpreter-py smolagents langchain openai-agents computesdk
port=${ISOLA_E2B_PORT:-7798}
for program in node npm python3 curl; do
  command -v "$program" >/dev/null || { echo "e2b-integrations-here: $program is not installed" >&2; exit 1; }
done
work=$(mktemp -d /tmp/isola-e2b.XXXXXX)
data=${ISOLA_E2B_DATA:-$work/data}
server=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# A small image base with python; ComputeSDK's quick start also expects pandas.
if [ -z "${ISOLA_E2B_DATA:-}" ]; then
  "$self/e2b/small-root.sh" "$work/root" || exit 1
  [ -e "$work/root/usr/bin/python" ] || ln -s python3 "$work/root/usr/bin/python"
  case " $* " in
    *" computesdk "*)
      version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') &&
        python3 -m pip install -q --only-binary=:all: --python-version "$version" \
          --target "$work/root/usr/lib/python3/dist-packages" pandas >"$work/pandas.log" 2>&1 ||
        echo "e2b-integrations-here: the image has no pandas: $(tail -n 1 "$work/pandas.log")" >&2
      ;;
  esac
  "$self/../isola" image import --local --data "$data" base "$work/root" >/dev/null || exit 1
fi

E2B_API_KEY=e2b_$(head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n')
export E2B_API_KEY E2B_API_URL="http://127.0.0.1:$port" E2B_SANDBOX_URL="http://127.0.0.1:$port"
ISOLA_API_KEY=$E2B_API_KEY "$self/../isola" serve --data "$data" --port "$port" --set "provider=$provider" \
  >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  curl -sf "$E2B_API_URL/readyz" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.5
done

code=0
# report NAME COMMAND...: runs a program and prints its outcome.
report() {
  name=$1
  shift
  if "$@" >"$work/$name.log" 2>&1; then
    echo "PASS $name"
  else
    echo "FAIL $name"
    sed 's/^/  /' "$work/$name.log"
    code=1
  fi
}
# python NAME PROGRAM PACKAGE...: the newest packages that resolve, in an environment of their own.
python() {
  name=$1 program=$2
  shift 2
  if python3 -m venv "$work/$name" && "$work/$name/bin/pip" install -q "$@" >"$work/$name.log" 2>&1; then
    "$work/$name/bin/pip" freeze 2>/dev/null | grep -iE '^(e2b|smolagents|langchain-e2b|openai-agents)' | tr '\n' ' '
    report "$name" "$work/$name/bin/python" -B "$self/e2b/integrations/$program"
  else
    echo "NOT RUN $name: $* cannot be installed: $(tail -n 1 "$work/$name.log")"
  fi
}
# node_program NAME PROGRAM PACKAGE...
node_program() {
  name=$1 program=$2
  shift 2
  mkdir "$work/$name"
  cp "$self/e2b/integrations/$program" "$work/$name/"
  echo '{"private":true,"type":"module"}' >"$work/$name/package.json"
  if (cd "$work/$name" && npm install --no-audit --no-fund --omit=optional "$@" >npm.log 2>&1); then
    (cd "$work/$name" && npm ls --depth=1 2>/dev/null | grep -oE '(@?[a-z0-9-]+/)?(e2b|computesdk|code-interpreter)@[0-9.]+' |
      sort -u | tr '\n' ' ')
    cd "$work/$name" || exit 1
    report "$name" node "$program"
    cd "$work" || exit 1
  else
    echo "NOT RUN $name: $* cannot be installed: $(grep -m 1 'npm error' "$work/$name/npm.log")"
  fi
}
for name in "$@"; do
  case $name in
    code-interpreter) node_program "$name" code-interpreter.mjs @e2b/code-interpreter ;;
    code-interpreter-py) python "$name" code_interpreter.py e2b-code-interpreter ;;
    smolagents) python "$name" smolagents_executor.py 'smolagents[e2b]' ;;
    langchain) python "$name" langchain_backend.py langchain-e2b ;;
    openai-agents) python "$name" openai_agents_session.py 'openai-agents[e2b]' ;;
    computesdk) node_program "$name" computesdk.mjs computesdk @computesdk/e2b ;;
    *) echo "e2b-integrations-here: unknown integration $name" >&2; exit 1 ;;
  esac
done
exit $code
