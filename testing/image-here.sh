#!/bin/sh
# Starts the container image with the Docker engine of DOCKER_HOST and creates sandboxes in it over HTTP:
#   testing/engines-here.sh --docker testing/image-here.sh [IMAGE]    by default that of packaging/build --image
# With each set of options of docs/operations.md: the providers that are healthy, and the result of creating a sandbox and
# running a command. Fails if a set gives another result than the page says.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
image=$(readlink -f "${1:-$(ls "$root"/target/dist/isola-*-image-*.tar)}")
docker() { command docker --host "$DOCKER_HOST" "$@"; }
fail() {
  echo "image-here: $*" >&2
  exit 1
}
[ -n "${DOCKER_HOST:-}" ] || fail 'DOCKER_HOST is not set; run this with testing/engines-here.sh --docker'
[ -r "$image" ] || fail 'no image; run packaging/build --image'
key=isk_$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
loaded=$(docker load -q -i "$image") || fail 'docker load failed'
name=${loaded#Loaded image: }
container=
trap '[ -z "$container" ] || docker rm -f -v "$container" >/dev/null; docker rmi -f "$name" >/dev/null' EXIT
trap 'exit 1' INT TERM HUP

# inside COMMAND...: in the container; the engine has a network of its own.
inside() { docker exec -e ISOLA_API_KEY="$key" -e ISOLA_URL=http://127.0.0.1:7777 "$container" "$@"; }

# call PATH [BODY]: a request over HTTP, by bash, since the image has no curl. Prints status and body.
call() {
  inside bash -c '
    exec 3<>/dev/tcp/127.0.0.1/7777
    if [ $# -gt 1 ]; then method=POST; else method=GET; fi
    printf "%s %s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer $ISOLA_API_KEY\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s" \
      "$method" "$1" "$(printf %s "${2:-}" | wc -c)" "${2:-}" >&3
    tr -d "\r" <&3 | sed "1s/^HTTP[^ ]* //"' call "$@"
}

status=0
# with TITLE EXPECTED OPTION...: EXPECTED is the provider of the sandbox, or none.
with() {
  title=$1
  expected=$2
  shift 2
  container=$(docker run -d -e ISOLA_API_KEY="$key" "$@" "$name") || fail 'docker run failed'
  ready=
  for _ in $(seq 60); do
    ready=$(call /readyz 2>/dev/null | head -n 1)
    case $ready in 200*) break ;; esac
    [ "$expected" != none ] || case $ready in 503*) [ "$_" -lt 25 ] || break ;; esac
    sleep 1
  done
  created=$(call /api/v1/sandboxes '{"ttlSeconds": 300}')
  id=$(printf '%s' "$created" | sed -n 's/^{"id":"\([a-z0-9]*\)".*/\1/p')
  if [ -n "$id" ]; then
    result=$(printf '%s' "$created" | sed -n 's/.*"provider":"\([a-z0-9-]*\)".*/\1/p')
    call "/api/v1/sandboxes/$id/exec" '{"command": "echo $((6 * 7))"}' | grep -q '"stdout":"42\\n"' || result="$result, but its command failed"
  else
    result=none
  fi
  verdict=passed
  [ "$result" = "$expected" ] || {
    verdict="FAILED, expected $expected: $(printf '%s' "$created" | tail -n 1 | cut -c 1-600)"
    docker logs "$container" 2>&1 | tail -n 3
    status=1
  }
  echo "$title: provider $result: $verdict"
  inside isola providers 2>/dev/null | awk '$2 == "healthy" { print "    healthy: " $1 ", isolation " $3 ", enforces " $6 }'
  docker rm -f -v "$container" >/dev/null
  container=
}

with 'none' none
with 'none, with floor process' subprocess -e ISOLA_FLOOR=process -e ISOLA_ALLOW_PROCESS=true
with 'seccomp, apparmor' none --security-opt seccomp=unconfined --security-opt apparmor=unconfined
with 'seccomp, apparmor, systempaths' bubblewrap --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
  --security-opt systempaths=unconfined
with 'SYS_ADMIN, apparmor, systempaths' none --cap-add SYS_ADMIN --security-opt apparmor=unconfined \
  --security-opt systempaths=unconfined
exit $status
