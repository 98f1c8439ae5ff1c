#!/bin/sh
# Runs a command on a small internet of its own, for tests of what sandboxes reach:
#   testing/internet-here.sh COMMAND...
#   testing/internet-here.sh curl https://ok.example/
# The command has namespaces of its own (pid, mount, network; as an ordinary user also a user namespace) and the address
# 198.51.100.1. It is connected to a second network namespace, the internet, where testing/internet/internet.py serves
# names, TLS, HTTP, TCP and UDP, also on addresses that no sandbox may reach, such as 169.254.169.254 and 10.0.0.5.
# ISOLA_INTERNET is a folder with the log of everything that arrives there (log.jsonl), the certificates (ca.pem) and
# a trust store for the JDK (cacerts); the programs of the machine trust that authority. No network of this machine is
# touched, and everything ends with the command.
set -u
self=$(readlink -f "$0")
here=$(dirname "$self")/internet

fail() {
  echo "internet-here: $*" >&2
  exit 69
}

# Second call, in the namespaces: process 1 of its pid namespace, so that all others end with it.
if [ "${ISOLA_INTERNET_INSIDE:-}" = yes ]; then
  unset ISOLA_INTERNET_INSIDE
  work=$ISOLA_INTERNET
  ip link set lo up
  unshare --net sh -c 'echo $$ >"$1/pid"; while [ ! -e "$1/linked" ]; do sleep 0.02; done; exec sh "$2/serve.sh" "$1"' \
    sh "$work" "$here" >"$work/internet.log" 2>&1 &
  for _ in $(seq 200); do
    [ -s "$work/pid" ] && break
    sleep 0.02
  done
  ip link add up0 type veth peer name down0 netns "$(cat "$work/pid")" || fail 'cannot create a pair of interfaces'
  ip addr add 198.51.100.1/24 dev up0
  ip addr add 2600:db8:1::1/64 dev up0 nodad
  ip link set up0 up
  : >"$work/linked"
  for _ in $(seq 250); do
    [ -e "$work/ready" ] && break
    sleep 0.04
  done
  [ -e "$work/ready" ] || { cat "$work/internet.log" >&2; fail 'the internet did not start'; }
  ip route add default via 198.51.100.2
  ip -6 route add default via 2600:db8:1::2
  mount --bind "$work/resolv.conf" "$(readlink -f /etc/resolv.conf)" || fail 'cannot replace /etc/resolv.conf'
  mount --bind "$work/hosts" /etc/hosts
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
    mount --bind "$work/authorities.pem" "$(readlink -f /etc/ssl/certs/ca-certificates.crt)"
  [ ! -e /etc/ssl/certs/java/cacerts ] || [ ! -e "$work/cacerts" ] ||
    mount --bind "$work/cacerts" "$(readlink -f /etc/ssl/certs/java/cacerts)"
  "$@"
  exit
fi

[ "$#" -gt 0 ] || fail 'what shall be run?'
for program in unshare ip mount python3 openssl; do
  command -v "$program" >/dev/null || fail "$program is not installed (apt-get install util-linux iproute2 python3 openssl)"
done
work=$(mktemp -d "${TMPDIR:-/tmp}/isola-internet.XXXXXX")
chmod 755 "$work"
inside=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$inside" ] || { kill "$inside" 2>/dev/null; wait "$inside" 2>/dev/null; }
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

sh "$here/certificates.sh" "$work" >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log" >&2; fail 'cannot make certificates'; }
printf 'nameserver 203.0.113.53\noptions timeout:2 attempts:2\n' >"$work/resolv.conf"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$work/hosts"
cat /etc/ssl/certs/ca-certificates.crt "$work/ca.pem" >"$work/authorities.pem" 2>/dev/null
: >"$work/log.jsonl"
chmod 644 "$work"/*.pem "$work/log.jsonl" "$work/resolv.conf" "$work/hosts"
user=
[ "$(id -u)" = 0 ] || user='--user --map-root-user'
# shellcheck disable=SC2086 # a list of options
ISOLA_INTERNET=$work ISOLA_INTERNET_INSIDE=yes unshare $user --net --mount --pid --fork --kill-child --mount-proc \
  sh "$self" "$@" &
inside=$!
wait "$inside"
status=$?
inside=
exit $status
