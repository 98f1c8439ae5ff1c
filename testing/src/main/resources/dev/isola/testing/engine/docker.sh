# A Docker engine whose data, socket and control groups are its own: sh docker.sh FOLDER GROUPS [OPTION]...
# To be run as process 1 of pid, mount and network namespaces of its own (unshare), so that nothing it does reaches this
# machine's networks or mounts. It listens at FOLDER/docker.sock and writes to FOLDER/log. When the daemon ends and there
# is a file FOLDER/again, it is started once more, after FOLDER/held is gone.
work=$1
groups=$2
shift 2
ip link set lo up
# Users that it can remap to, known only in here.
for file in passwd group subuid subgid; do
  [ ! -e "$work/etc/$file" ] || mount --bind "$work/etc/$file" "/etc/$file" || exit 1
done
# A disk of its own that has no more than so many bytes.
if [ -e "$work/small" ]; then
  mkdir -p "$work/data"
  mount -t tmpfs -o "size=$(cat "$work/small")" data "$work/data" || exit 1
fi
# gVisor where it is there (its own network stack fails on some kernels, and ptrace works on all), and a runtime that is
# not what its name promises.
gvisor=
if command -v runsc >/dev/null; then
  gvisor='"runsc": {"path": "runsc", "runtimeArgs": ["--network=none", "--platform=ptrace"]},'
fi
[ -e "$work/daemon.json" ] || printf '{"runtimes": {%s "liar": {"path": "runc"}}}\n' "$gvisor" >"$work/daemon.json"
while :; do
  dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/pid" \
    --host "unix://$work/docker.sock" --cgroup-parent "$groups" --exec-opt native.cgroupdriver=cgroupfs \
    --config-file "$work/daemon.json" "$@" >>"$work/log" 2>&1
  while [ -e "$work/held" ]; do sleep 0.1; done
  [ -e "$work/again" ] || exit
  rm -f "$work/again"
done
