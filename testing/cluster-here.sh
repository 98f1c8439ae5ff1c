#!/bin/sh
# Runs a command with a private Kubernetes cluster, for a machine where none is reachable:
#   testing/cluster-here.sh COMMAND...
#   testing/cluster-here.sh sh -c './isola conformance kubernetes --set image=$ISOLA_TEST_IMAGE --json'
# The command finds the cluster by KUBECONFIG, kubectl on PATH, and an image with a shell and Python by ISOLA_TEST_IMAGE.
# It has one node, or ISOLA_CLUSTER_NODES of them. There are two runtimes: runc, and gVisor as the runtime class "gvisor",
# and volumes of the storage class "folders". The programs are built on first use, which takes
# about 15 minutes on two idle cores, and kept in ${XDG_CACHE_HOME:-~/.cache}/isola/cluster; later starts take some
# seconds. The cluster uses a temporary folder and its own namespaces (pid, mount, network, uts, ipc), so it cannot affect
# the networks or mounts of this machine, and everything is removed at the end. Leftovers are reported, and the exit status
# is then 3. ISOLA_CLUSTER_LOGS names a folder to which the logs are copied. With ISOLA_CLUSTER_AGENT_SANDBOX=1 the
# controller of agent-sandbox runs too, after it has been built once; with "cached", if it has been built before.
# With ISOLA_CLUSTER_PROXY=1 pods reach each other on all nodes, and services have addresses (kube-proxy with nftables); there
# is no DNS, and network policies are not enforced. ISOLA_CLUSTER_IMAGES names archives of further images for the nodes,
# separated by colons.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/cluster/versions.sh"

fail() {
  echo "cluster-here: $*" >&2
  exit 1
}

[ "$#" -gt 0 ] || fail 'what shall be run?'
[ "$(id -u)" = 0 ] || fail 'a node needs root'
for program in unshare ip openssl runc python3 gcc ${ISOLA_CLUSTER_PROXY:+nft}; do
  command -v "$program" >/dev/null ||
    fail "$program is not installed (apt-get install util-linux iproute2 openssl runc python3 gcc libc6-dev nftables)"
done

nodes=${ISOLA_CLUSTER_NODES:-1}
case $nodes in [1-4]) ;; *) fail 'ISOLA_CLUSTER_NODES is a number from 1 to 4' ;; esac
programs=${XDG_CACHE_HOME:-$HOME/.cache}/isola/cluster/$CLUSTER_VERSION
if [ ! -d "$programs" ]; then
  command -v go >/dev/null || fail 'go is not installed, and the programs are not in the cache'
  mkdir -p "${programs%/*}"
  sh "$here/cluster/build.sh" "$programs" || fail 'the programs cannot be built'
fi
runc=$(sh "$here/cluster/runc.sh" "${programs%/*}")
agent_sandbox=
case ${ISOLA_CLUSTER_AGENT_SANDBOX:-} in
'') ;;
1) agent_sandbox=$(sh "$here/cluster/agent-sandbox.sh" "${programs%/*}") || fail 'agent-sandbox cannot be built' ;;
cached) agent_sandbox=$(sh "$here/cluster/agent-sandbox.sh" "${programs%/*}" cached) || exit ;;
*) fail 'ISOLA_CLUSTER_AGENT_SANDBOX is 1 or cached' ;;
esac
tree=$("$here/debian-tree.sh" cluster python3,procps,sudo,iproute2,ca-certificates,curl) || exit

work=$(mktemp -d /tmp/isola-cluster.XXXXXX)
chmod 711 "$work"
groups=isola-own-cluster-$$
network=10.$((200 + $$ % 50)).$(($$ / 50 % 250))
device=isola-k$(($$ % 1000000))
node=
inside=
controller=

# The control groups of the cluster, innermost first.
control_groups() {
  find /sys/fs/cgroup -depth -type d \( -path "*/$groups/*" -o -name "$groups" \) 2>/dev/null
}

# control_group FOLDER: with the processors and memory of its parent, without which nothing can run in it.
control_group() {
  mkdir "$1" 2>/dev/null || return 0
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$1/$file" ] || [ -e "$1/cgroup.controllers" ] || cat "${1%/*}/$file" >"$1/$file"
  done
}

make_control_groups() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir "/sys/fs/cgroup/$groups"
    for number in $(seq "$nodes"); do mkdir "/sys/fs/cgroup/$groups/node$number"; done
    return
  fi
  for controller in /sys/fs/cgroup/*/; do
    control_group "$controller$groups"
    for number in $(seq "$nodes"); do control_group "$controller$groups/node$number"; done
  done
}

stop() {
  trap - EXIT INT TERM HUP
  if [ -n "$controller" ]; then
    kill "$controller" 2>/dev/null
    wait "$controller" 2>/dev/null
  fi
  if [ -n "$node" ]; then
    kill -KILL ${inside:-"$node"} 2>/dev/null # the first process of the pid namespace, and with it all others
    wait "$node" 2>/dev/null
  fi
  # The kernel keeps the network of the nodes until connections of killed processes have timed out.
  ip link delete "$device" 2>/dev/null
  # A process that has been killed may take a moment to leave its control group.
  for _ in $(seq 100); do
    control_groups | while read -r group; do rmdir "$group" 2>/dev/null; done
    [ -n "$(control_groups)" ] || break
    sleep 0.1
  done
  if [ -n "${ISOLA_CLUSTER_LOGS:-}" ]; then
    mkdir -p "$ISOLA_CLUSTER_LOGS"
    cp "$work"/*.log "$ISOLA_CLUSTER_LOGS" 2>/dev/null
  fi
  rm -rf "$work"
  ls -d /tmp/isola-cluster.* >/dev/null 2>&1 || rmdir /tmp/hostpath_pv 2>/dev/null
  leftovers
}

# Leftover processes, mounts, devices and control groups.
leftovers() {
  left=$(
    grep -h "$work" /proc/self/mountinfo
    control_groups
    for process in /proc/[0-9]*; do
      [ "${process#/proc/}" = "$$" ] || ! grep -qaF "$work" "$process/cmdline" 2>/dev/null || echo "$process"
    done
    ls -d "$work" "/sys/class/net/$device" 2>/dev/null
  )
  [ -z "$left" ] || {
    printf 'cluster-here: left behind:\n%s\n' "$left" >&2
    exit 3
  }
}

command=
trap '[ -z "$command" ] || kill "$command" 2>/dev/null; stop; exit 1' INT TERM HUP
trap 'status=$?; stop; exit $status' EXIT

# await SECONDS COMMAND...: until it succeeds.
await() {
  tries=$(($1 * 10))
  shift
  for _ in $(seq "$tries"); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$node" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 5 "$work"/*.log >&2
  fail "the cluster did not start: $*"
}

python3 "$here/cluster/image.py" "$work/images" "$tree" || fail 'the images cannot be made'
for archive in $(printf %s "${ISOLA_CLUSTER_IMAGES:-}" | tr : ' '); do
  ln -s "$(readlink -f "$archive")" "$work/images/" || fail "the image $archive cannot be used"
done
make_control_groups
mkdir -p /tmp/hostpath_pv # a folder of the provisioner; in the namespaces it is one of $work
unshare --mount --pid --net --uts --ipc --fork --kill-child=KILL --mount-proc \
  sh "$here/cluster/node.sh" "$work" "$programs" "$groups" "$network.2" "$nodes" "$runc" 2>"$work/node.log" &
node=$!
while [ -z "$inside" ]; do
  inside=$(tr -d ' ' <"/proc/$node/task/$node/children" 2>/dev/null)
  kill -0 "$node" 2>/dev/null || fail 'the namespaces cannot be made'
done
ip link add "$device" type veth peer name eth0 netns "$inside" || fail 'a pair of devices cannot be made'
ip address add "$network.1/30" dev "$device"
ip link set "$device" up

export KUBECONFIG="$work/kubeconfig" PATH="$PATH:$programs" ISOLA_TEST_IMAGE=isola.test/debian:1
await 60 test -e "$work/ready"
for number in $(seq "$nodes"); do
  await 60 kubectl wait --for=condition=Ready "node/node$number" --timeout=1s
done
await 60 kubectl get serviceaccount default
kubectl apply -f "$here/cluster/runtime-classes.yaml" -f "$here/cluster/storage-class.yaml" >/dev/null ||
  fail 'the runtime and storage classes cannot be made'

if [ -n "$agent_sandbox" ]; then
  for resource in "$agent_sandbox"/*.yaml; do
    kubectl create -f "$resource" >/dev/null || fail "$resource is refused"
  done
  await 60 kubectl wait --for=condition=Established --timeout=1s crd/sandboxes.agents.x-k8s.io
  "$agent_sandbox/agent-sandbox-controller" --leader-elect=false --metrics-bind-address=0 \
    --health-probe-bind-address=0 >"$work/agent-sandbox.log" 2>&1 </dev/null &
  controller=$!
fi

# In the background, so that a signal ends it at once.
"$@" <&0 &
command=$!
wait "$command"
