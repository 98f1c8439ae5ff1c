# Runs a Docker engine with private data, socket and control groups: sh docker.sh FOLDER GROUPS [OPTION]...
# Run it as process 1 of new pid, mount and network namespaces (unshare), so that it cannot affect the networks or mounts
# of this machine. It listens on FOLDER/docker.sock and logs to FOLDER/log. When the daemon ends and FOLDER/again exists,
# it is restarted once FOLDER/held is removed.
work=$1
groups=$2
shift 2
ip link set lo up
# Subordinate users for remapping, visible only in this mount namespace.
for file in passwd group subuid subgid; do
  [ ! -e "$work/etc/$file" ] || mount --bind "$work/etc/$file" "/etc/$file" || exit 1
done
# A private disk of limited size.
if [ -e "$work/small" ]; then
  mkdir -p "$work/data"
  mount -t tmpfs -o "size=$(cat "$work/small")" data "$work/data" || exit 1
fi
# gVisor if installed (its network stack fails on some kernels, and ptrace works on all), and a runtime that is not what
# its name suggests.
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
