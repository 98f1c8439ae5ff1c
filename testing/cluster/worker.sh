#!/bin/sh
# Runs the runtime and the kubelet of one node: sh worker.sh FOLDER PROGRAMS GROUPS ADDRESS NAME NUMBER RUNC
# node.sh runs it, for the second node in namespaces of its own (mount, network, uts) with the device eth0.
set -eu
work=$1
programs=$2
groups=$3
address=$4
name=$5
number=$6
runc=$7
folder=$work/$name
here=$(dirname "$(readlink -f "$0")")
export PATH="$programs:$PATH"
mkdir -p "$folder/cni" "$folder/logs" "$folder/plugins"

if [ "$number" -gt 1 ]; then
  mount --make-rshared /
  mount -t tmpfs run /run
  mount -t tmpfs log /var/log
  mount -t tmpfs lib /var/lib
  hostname "$name"
  ip link set lo up
  while ! ip link show eth0 >/dev/null 2>&1; do sleep 0.01; done
  ip address add "$address/30" dev eth0
  ip link set eth0 up
  ip route add default via "${address%.*}.1"
fi

cat >"$folder/containerd.toml" <<END
version = 3
root = '$folder/containerd'
state = '/run/containerd'
[grpc]
  address = '/run/containerd.sock'
[plugins.'io.containerd.internal.v1.opt']
  path = '$folder/plugins'
[plugins.'io.containerd.nri.v1.nri']
  disable = true
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'isola.test/pause:1'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['$programs']
  conf_dir = '$folder/cni'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '$runc'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runsc]
  runtime_type = 'io.containerd.runsc.v1'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runsc.options]
  TypeUrl = 'io.containerd.runsc.v1.options'
  ConfigPath = '$folder/runsc.toml'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runsc-liar]
  runtime_type = 'io.containerd.runc.v2'
END
cat >"$folder/runsc.toml" <<END
binary_name = "$programs/runsc"
[runsc_config]
  platform = "systrap"
  network = "sandbox"
END
cat >"$folder/cni/pods.conflist" <<END
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true,
   "ipam": {"type": "host-local", "dataDir": "$folder/addresses", "ranges": [[{"subnet": "10.244.$number.0/24"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat >"$folder/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  x509: {clientCAFile: $work/pki/ca.crt}
containerRuntimeEndpoint: unix:///run/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$groups/$name
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
podLogsDir: $folder/logs
volumePluginDir: $folder/plugins
resolvConf: ""
podPidsLimit: 2048
nodeLeaseDurationSeconds: 10
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
END

containerd --config "$folder/containerd.toml" >"$work/containerd-$name.log" 2>&1 &
while ! ctr --address /run/containerd.sock version >/dev/null 2>&1; do sleep 0.1; done
for image in "$work"/images/*.tar; do
  ctr --address /run/containerd.sock --namespace k8s.io images import "$image" >>"$work/images-$name.log" 2>&1
done
while [ ! -e "$work/api-ready" ]; do sleep 0.1; done
if [ -n "${ISOLA_CLUSTER_PROXY:-}" ]; then
  sysctl -q net.ipv4.ip_forward=1
  # The other settings of kube-proxy belong to the whole machine.
  kube-proxy --kubeconfig "$work/kubeconfig" --proxy-mode nftables --cluster-cidr 10.244.0.0/16 \
    --hostname-override "$name" --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0 \
    --conntrack-tcp-timeout-close-wait 0 >"$work/proxy-$name.log" 2>&1 &
fi
unshare --mount --propagation unchanged \
  sh "$here/kubelet.sh" "$folder" --kubeconfig "$work/$name.kubeconfig" --config "$folder/kubelet.yaml" \
  --root-dir "$folder/kubelet" --cert-dir "$folder/pki" --hostname-override "$name" --node-ip "$address" \
  >"$work/kubelet-$name.log" 2>&1 &
wait
