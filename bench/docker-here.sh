#!/bin/sh
# Runs `isola bench` with a private Docker engine and Podman, for a machine without an engine:
#   bench/docker-here.sh [BENCHMARK|PROVIDER|OPTION]...     (create exec by default)
# The engine is that of testing/engines-here.sh and is removed at the end with all its data; the providers docker and
# docker-gvisor use it too. Podman has no engine, but gets separate storage.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
image=isola-bench

fail() {
  echo "docker-here: $*" >&2
  exit 1
}

# The outer run starts the engine, which runs this script again.
if [ -z "${ISOLA_BENCH_WORK:-}" ]; then
  for program in docker tar; do
    command -v "$program" >/dev/null || fail "$program is not installed (apt-get install docker.io tar)"
  done
  busybox=$(command -v busybox) || fail 'busybox is not installed (apt-get install busybox-static)'
  work=$(mktemp -d /tmp/isola-bench.XXXXXX)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP
  mkdir -p "$work/rootfs/bin" "$work/rootfs/tmp"
  cp "$busybox" "$work/rootfs/bin/busybox"
  for name in true sleep sh test; do ln -s busybox "$work/rootfs/bin/$name"; done
  tar -cf "$work/rootfs.tar" -C "$work/rootfs" .
  [ "$#" -gt 0 ] || set -- create exec
  ISOLA_BENCH_WORK=$work "$root/testing/engines-here.sh" --docker "$0" "$@"
  exit
fi

work=$ISOLA_BENCH_WORK
docker import "$work/rootfs.tar" "$image" >/dev/null || fail 'the image cannot be imported'

# Without a network, because Podman would create one on this host.
if command -v podman >/dev/null; then
  trap 'podman rm --all --force >/dev/null 2>&1
    grep -o " $work/podman[^ ]*" /proc/self/mountinfo | sort -r | while read -r point; do umount "$point"; done' EXIT
  trap 'exit 1' INT TERM HUP
  mkdir "$work/podman"
  cat >"$work/podman/storage.conf" <<CONF
[storage]
driver = "overlay"
runroot = "$work/podman/run"
graphroot = "$work/podman/graph"
CONF
  cat >"$work/podman/containers.conf" <<CONF
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
CONF
  export CONTAINERS_STORAGE_CONF="$work/podman/storage.conf" CONTAINERS_CONF="$work/podman/containers.conf"
  podman import "$work/rootfs.tar" "$image" >"$work/podman/log" 2>&1 || tail -n 3 "$work/podman/log" >&2
fi

"$root/isola" bench "$@" --docker-host "$DOCKER_HOST" --image "$image"
