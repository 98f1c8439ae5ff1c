#!/bin/sh
# Runs the programs of testing/e2b, which use the published E2B SDKs, against a private server:
#   testing/e2b-here.sh [PROVIDER] [AREA...]        such as: testing/e2b-here.sh bubblewrap commands python/files
#   testing/engines-here.sh --docker testing/e2b-here.sh docker
#   testing/e2b-here.sh bubblewrap bench                        measures the latency of the SDK
#   testing/e2b-here.sh bubblewrap burst [SANDBOXES] [ROUNDS]   measures sandboxes requested at once, 100 by default
#   testing/e2b-here.sh bubblewrap conformance [OPTION...]      isola conformance e2b against that server
# An area is a program in testing/e2b/test, or python/AREA for one in testing/e2b/python; the default is all of them.
# E2B_JS_VERSION and E2B_PYTHON_VERSION choose other versions of the SDKs, which lack some of what the programs use.
# With E2B_BY_DOMAIN=1 the programs know the server by E2B_DOMAIN only, as SDKs before 2.7 must.
# With E2B_INSECURE=1 the server allows sandboxes without tokens, which SDKs before 1.5 need.
# The server uses the image base of the data folder ISOLA_E2B_DATA; the script builds it there if it is missing.
set -u
self=$(dirname "$(readlink -f "$0")")
provider=${1:-bubblewrap}
[ "$#" -eq 0 ] || shift
port=${ISOLA_E2B_PORT:-7799}
for program in node npm python3 curl; do
  command -v "$program" >/dev/null || { echo "e2b-here: $program is not installed" >&2; exit 1; }
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

node=
python=
for area in "$@"; do
  [ "$1" != conformance ] || break
  case $area in
    python/*) python="$python test_${area#python/}" ;;
    *) node="$node test/$area.test.mjs" ;;
  esac
done
if [ "$#" -eq 0 ]; then
  node=$(cd "$self/e2b" && printf ' %s' test/*.test.mjs)
  python=$(cd "$self/e2b/python" && for file in test_*.py; do printf ' %s' "${file%.py}"; done)
fi
if [ -n "$node" ]; then
  cp -R "$self/e2b/package.json" "$self/e2b/package-lock.json" "$self/e2b/.npmrc" "$self/e2b/test" "$self/e2b/bench.mjs" "$self/e2b/burst.mjs" "$work/" || exit 1
  if [ -n "${E2B_JS_VERSION:-}" ]; then
    rm "$work/package-lock.json"
    echo '{"private":true,"type":"module"}' >"$work/package.json"
    (cd "$work" && npm install --no-audit --no-fund "e2b@$E2B_JS_VERSION" >npm.log 2>&1)
  else
    (cd "$work" && npm ci --no-audit --no-fund >npm.log 2>&1)
  fi || { cat "$work/npm.log" >&2; exit 1; }
fi
if [ -n "$python" ]; then
  packages="-r $self/e2b/python/requirements.txt"
  [ -z "${E2B_PYTHON_VERSION:-}" ] || packages="e2b==$E2B_PYTHON_VERSION"
  # shellcheck disable=SC2086
  { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q $packages; } \
    >"$work/pip.log" 2>&1 || { cat "$work/pip.log" >&2; exit 1; }
fi

E2B_API_KEY=e2b_$(head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n')
export E2B_API_KEY E2B_API_URL="http://127.0.0.1:$port" E2B_SANDBOX_URL="http://127.0.0.1:$port" \
  E2B_VOLUME_API_URL="http://127.0.0.1:$port"
# The programs build templates from an image without bash and without the user `user`.
"$self/e2b/bare-root.sh" "$work/bare" || exit 1
ISOLA_DATA=$data "$self/../isola" image show --local bare >/dev/null 2>&1 \
  || ISOLA_DATA=$data "$self/../isola" image import --local bare "$work/bare" >"$work/import.log" 2>&1 \
  || { cat "$work/import.log" >&2; exit 1; }
# A create would answer that the image is being built, and the programs do not wait for that.
ISOLA_DATA=$data "$self/../isola" image show --local base >/dev/null 2>&1 \
  || ISOLA_DATA=$data "$self/../isola" image build --local base >"$work/base.log" 2>&1 \
  || { cat "$work/base.log" >&2; exit 1; }
# The programs of the area domain know the domain only. Not every machine resolves it.
export E2B_TEST_DOMAIN="e2b.localhost:$port" E2B_TEST_CA="$data/e2b-tls/e2b.localhost/ca.pem" \
  E2B_TEST_RESOLVER="$work/resolver.so"
cc -shared -fPIC -o "$E2B_TEST_RESOLVER" "$self/e2b/resolver.c" || exit 1
ISOLA_API_KEY=$E2B_API_KEY "$self/../isola" serve --data "$data" --port "$port" --set "provider=$provider" \
  --e2b-domain e2b.localhost ${E2B_INSECURE:+--set e2b.allow_insecure=true} \
  >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  curl -sf "$E2B_API_URL/readyz" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.5
done

if [ "${1:-}" = conformance ]; then
  shift
  "$self/../isola" conformance e2b "$@"
  exit
fi
cd "$work" || exit 1
if [ -n "${E2B_BY_DOMAIN:-}" ]; then
  unset E2B_API_URL E2B_SANDBOX_URL
  cat /etc/ssl/certs/ca-certificates.crt "$E2B_TEST_CA" >"$work/authorities.pem" || exit 1
  export E2B_DOMAIN="$E2B_TEST_DOMAIN" NODE_EXTRA_CA_CERTS="$E2B_TEST_CA" SSL_CERT_FILE="$work/authorities.pem" \
    LD_PRELOAD="$E2B_TEST_RESOLVER"
fi
case ${1:-} in
  bench | burst)
    program=$1.mjs
    shift
    node "$program" "$@"
    exit
    ;;
esac
code=0
# shellcheck disable=SC2086
[ -z "$node" ] || node --test --test-concurrency=1 --test-reporter=tap $node || code=1
# shellcheck disable=SC2086
[ -z "$python" ] || (cd "$self/e2b/python" && "$work/venv/bin/python" -B -m unittest -v $python) || code=1
exit $code
