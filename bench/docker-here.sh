#!/bin/sh
# Runs `isola bench` beside a Docker engine and a Podman of its own, for a machine where none runs:
#   bench/docker-here.sh [BENCHMARK|PROVIDER|OPTION]...     (create exec by default)
# Everything of them lies in a temporary folder and in namespaces of their own (pid, mount, network),
# so nothing they do reaches this machine's networks or mounts, and all of it is gone at the end.
# What is left nevertheless is told, and the exit status is then 3.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
image=isola-bench
groups=isola-bench-docker-$$

fail() {
  echo "docker-here: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'an engine needs root'
for program in docker dockerd unshare ip tar; do
  command -v "$program" >/dev/null || fail "$program is not installed (apt-get install docker.io iproute2)"
done
busybox=$(command -v busybox) || fail 'busybox is not installed (apt-get install busybox-static)'
[ "$#" -gt 0 ] || set -- create exec

work=$(mktemp -d /tmp/isola-docker.XXXXXX)
socket=$work/docker.sock
engine=

# The engine is process 1 of its pid namespace: whatever it started ends with it.
stop() {
  trap - EXIT INT TERM HUP
  if [ -n "$engine" ]; then
    inside=$(cat "/proc/$engine/task/$engine/children" 2>/dev/null)
    # shellcheck disable=SC2086 # one pid or none
    [ -z "$inside" ] || kill -TERM $inside 2>/dev/null
    for _ in $(seq 100); do
      kill -0 "$engine" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$engine" 2>/dev/null # and with it, by --kill-child, what did not listen
    wait "$engine" 2>/dev/null
  fi
  if [ -e "$work/podman/storage.conf" ]; then
    podman rm --all --force >/dev/null 2>&1
    grep -o " $work/podman[^ ]*" /proc/self/mountinfo | sort -r | while read -r point; do umount "$point"; done
  fi
  find /sys/fs/cgroup -depth -type d \( -path "*/$groups/*" -o -name "$groups" \) -exec rmdir {} + 2>/dev/null
  rm -rf "$work"
  census
}

# What still bears our mark.
census() {
  left=$(
    grep -h "$work" /proc/self/mountinfo
    find /sys/fs/cgroup -type d -name "$groups" 2>/dev/null
    for process in /proc/[0-9]*; do
      [ "${process#/proc/}" = "$$" ] || ! grep -qaF "$work" "$process/cmdline" 2>/dev/null || echo "$process"
    done
    ls -d "$work" 2>/dev/null
  )
  [ -z "$left" ] || {
    printf 'docker-here: left behind:\n%s\n' "$left" >&2
    exit 3
  }
}

trap 'stop; exit 1' INT TERM HUP
trap 'status=$?; stop; exit $status' EXIT

mkdir -p "$work/rootfs/bin" "$work/rootfs/tmp"
cp "$busybox" "$work/rootfs/bin/busybox"
for name in true sleep sh; do ln -s busybox "$work/rootfs/bin/$name"; done
tar -cf "$work/rootfs.tar" -C "$work/rootfs" .

# shellcheck disable=SC2016 # expanded by the inner shell
unshare --pid --fork --kill-child --mount-proc --net sh -c '
  ip link set lo up
  exec dockerd --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" --host "unix://$1/docker.sock" \
    --cgroup-parent "$2" --exec-opt native.cgroupdriver=cgroupfs >"$1/log" 2>&1' sh "$work" "$groups" &
engine=$!
export DOCKER_HOST="unix://$socket"
for _ in $(seq 300); do
  docker version >/dev/null 2>&1 && break
  kill -0 "$engine" 2>/dev/null || { tail -n 5 "$work/log" >&2; fail 'the engine did not start'; }
  sleep 0.1
done
docker import "$work/rootfs.tar" "$image" >/dev/null || fail 'the image cannot be imported'

# Podman has no engine, but state: its own here. Without a network of its own, for it would make one on this machine.
if command -v podman >/dev/null; then
  mkdir "$work/podman"
  cat >"$work/podman/storage.conf" <<END
[storage]
driver = "overlay"
runroot = "$work/podman/run"
graphroot = "$work/podman/graph"
END
  cat >"$work/podman/containers.conf" <<END
[containers]
netns = "none"
cgroups = "enabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "none"
lock_type = "file"
tmp_dir = "$work/podman/tmp"
static_dir = "$work/podman/static"
volume_path = "$work/podman/volumes"
[network]
network_config_dir = "$work/podman/networks"
END
  export CONTAINERS_STORAGE_CONF="$work/podman/storage.conf" CONTAINERS_CONF="$work/podman/containers.conf"
  podman import "$work/rootfs.tar" "$image" >"$work/podman/log" 2>&1 || tail -n 3 "$work/podman/log" >&2
fi

"$root/isola" bench "$@" --docker-host "$DOCKER_HOST" --image "$image"
