#!/bin/sh
# Runs a command with a private Docker engine and Podman service, for a machine where none runs:
#   testing/engines-here.sh [--docker] [--podman] [--remap] COMMAND...
#   testing/engines-here.sh ./isola conformance docker podman docker-gvisor --json
# The command finds them by DOCKER_HOST and CONTAINER_HOST. Without an option both are started. With --remap, the Docker
# engine remaps users, so that root of a sandbox is an unprivileged user on the host. The engines use a temporary folder
# and their own namespaces (pid, mount, network), so they cannot affect the networks or mounts of this machine, and
# everything is removed at the end. Leftovers are reported, and the exit status is then 3.
set -u
here=$(dirname "$(readlink -f "$0")")/src/main/resources/dev/isola/testing/engine

fail() {
  echo "engines-here: $*" >&2
  exit 1
}

docker=
podman=
remap=
while :; do
  case ${1:-} in
  --docker) docker=1 ;;
  --podman) podman=1 ;;
  --remap) remap=--userns-remap=isolaremap ;;
  *) break ;;
  esac
  shift
done
[ -n "$docker$podman" ] || { docker=1; podman=1; }
[ "$#" -gt 0 ] || fail 'what shall be run?'
[ "$(id -u)" = 0 ] || fail 'an engine needs root'
for program in unshare ip ${docker:+dockerd} ${podman:+podman}; do
  command -v "$program" >/dev/null || fail "$program is not installed (apt-get install docker.io podman iproute2)"
done

work=$(mktemp -d /tmp/isola-engines.XXXXXX)
chmod 711 "$work" # users that the engine remaps pass through it
groups=isola-own-engine-$$
engines=
podman_groups=$(find /sys/fs/cgroup -type d -name libpod_parent 2>/dev/null)

# ended PID: waits some seconds for the process to end.
ended() {
  for _ in $(seq 150); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

# Each engine runs in a pid namespace whose process 1 waits for it, so that all its children end with it.
stop() {
  trap - EXIT INT TERM HUP
  for engine in $engines; do
    for inside in $(cat "/proc/$engine/task/$engine/children" 2>/dev/null); do
      # shellcheck disable=SC2046 # pids, or none
      kill -TERM $(cat "/proc/$inside/task/$inside/children" 2>/dev/null) "$inside" 2>/dev/null
    done
    ended "$engine" || kill -KILL "$engine" 2>/dev/null # and by --kill-child what did not listen
    wait "$engine" 2>/dev/null
  done
  control_groups | while read -r group; do rmdir "$group" 2>/dev/null; done
  rm -rf "$work"
  leftovers
}

# The control groups of the engines, innermost first, except those that existed before.
control_groups() {
  find /sys/fs/cgroup -depth -type d \( -path "*/$groups/*" -o -name "$groups" \) 2>/dev/null
  [ -n "$podman_groups" ] ||
    find /sys/fs/cgroup -depth -type d \( -path '*/libpod_parent/*' -o -name libpod_parent \) 2>/dev/null
}

# Leftover processes, mounts and control groups.
leftovers() {
  left=$(
    grep -h "$work" /proc/self/mountinfo
    control_groups
    for process in /proc/[0-9]*; do
      [ "${process#/proc/}" = "$$" ] || ! grep -qaF "$work" "$process/cmdline" 2>/dev/null || echo "$process"
    done
    ls -d "$work" 2>/dev/null
  )
  [ -z "$left" ] || {
    printf 'engines-here: left behind:\n%s\n' "$left" >&2
    exit 3
  }
}

trap 'stop; exit 1' INT TERM HUP
trap 'status=$?; stop; exit $status' EXIT

# start NAME OPTION...: starts an engine and returns when its socket exists.
start() {
  name=$1
  shift
  mkdir -p "$work/$name"
  unshare --pid --fork --kill-child --mount-proc --net sh "$here/$name.sh" "$work/$name" "$@" &
  engine=$!
  engines="$engines $engine"
  for _ in $(seq 600); do
    [ ! -S "$work/$name/docker.sock" ] || return 0
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 5 "$work/$name/log" >&2
  fail "$name did not start"
}

if [ -n "$docker" ]; then
  if [ -n "$remap" ]; then
    mkdir -p "$work/docker/etc"
    { cat /etc/passwd; echo 'isolaremap:x:64999:64999::/:/bin/false'; } >"$work/docker/etc/passwd"
    { cat /etc/group; echo 'isolaremap:x:64999:'; } >"$work/docker/etc/group"
    echo 'isolaremap:1000000000:65536' | tee "$work/docker/etc/subuid" >"$work/docker/etc/subgid"
  fi
  start docker "$groups" $remap
  export DOCKER_HOST="unix://$work/docker/docker.sock"
fi
if [ -n "$podman" ]; then
  start podman
  export CONTAINER_HOST="unix://$work/podman/docker.sock"
fi

"$@"
