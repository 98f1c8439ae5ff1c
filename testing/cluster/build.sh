#!/bin/sh
# Builds the programs of a Kubernetes cluster from Go modules:
#   testing/cluster/build.sh FOLDER
# testing/cluster-here.sh calls it when FOLDER, which is named after the versions, does not exist. Takes 13 to 15 minutes
# on two idle cores. Source trees and Go's build cache are in a temporary folder beside FOLDER, which is removed at the
# end; the module cache is Go's own.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/versions.sh"
folder=$1
tree=$folder.building

rm -rf "$tree"
mkdir -p "$tree/bin"
trap 'chmod -R u+w "$tree" && rm -rf "$tree"' EXIT
export CGO_ENABLED=0 GOFLAGS="-mod=mod -trimpath -buildvcs=false" GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"
export GOCACHE="${ISOLA_CLUSTER_GOCACHE:-$tree/cache}"

# source_of MODULE VERSION NAME: makes a writable copy of a module.
source_of() {
  from=$(cd "$tree" && GOFLAGS=-mod=mod go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  cp -r "$from" "$tree/$3"
  chmod -R u+w "$tree/$3"
}

# requiring NAME MODULE VERSION: a module of its own that requires another one, for modules whose replacements matter not.
requiring() {
  mkdir "$tree/$1"
  (cd "$tree/$1" && go mod init isola.dev/testing && go get "$2@$3") >"$tree/$1.log" 2>&1 || {
    cat "$tree/$1.log" >&2
    return 1
  }
}

echo "kubernetes $KUBERNETES" >&2
source_of k8s.io/kubernetes "$KUBERNETES" kubernetes
(
  cd "$tree/kubernetes"
  rm -rf go.work go.work.sum vendor
  staging=v0.${KUBERNETES#v1.}
  sed -i "s|=> ./staging/src/\(k8s.io/[a-z0-9-]*\)|=> \1 $staging|" go.mod
  # The release builds set the version, which the API server compares with those of its features.
  minor=${KUBERNETES#v1.}
  minor=${minor%%.*}
  p=k8s.io/component-base/version
  go build -ldflags "-s -w -X $p.gitVersion=$KUBERNETES -X $p.gitMajor=1 -X $p.gitMinor=$minor" -o "$tree/bin/" \
    ./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kube-scheduler ./cmd/kubelet ./cmd/kube-proxy ./cmd/kubectl
  go build -ldflags '-s -w' -o "$tree/bin/etcd" go.etcd.io/etcd/server/v3 # the version that Kubernetes is built with
)
echo "containerd $CONTAINERD" >&2
requiring containerd github.com/containerd/containerd/v2 "$CONTAINERD"
(
  cd "$tree/containerd"
  m=github.com/containerd/containerd/v2
  go build -ldflags "-s -w -X $m/version.Version=$CONTAINERD" -o "$tree/bin/" \
    "$m/cmd/containerd" "$m/cmd/ctr" "$m/cmd/containerd-shim-runc-v2"
)

echo "CNI plugins $CNI" >&2
requiring cni github.com/containernetworking/plugins "$CNI"
(
  cd "$tree/cni"
  m=github.com/containernetworking/plugins/plugins
  go build -ldflags '-s -w' -o "$tree/bin/" "$m/main/bridge" "$m/main/loopback" "$m/ipam/host-local"
)

echo "gVisor $GVISOR" >&2
source_of gvisor.dev/gvisor "$GVISOR" gvisor
(
  cd "$tree/gvisor"
  # The shim insists on an OOM score that needs CAP_SYS_RESOURCE, which a test machine may not have.
  sed -i 's/if err := sys.SetOOMScore(cmd.Process.Pid, oomScoreMax); err != nil {/if err := sys.SetOOMScore(cmd.Process.Pid, oomScoreMax); err != nil \&\& !os.IsPermission(err) {/' pkg/shim/v1/manager.go
  grep -q IsPermission pkg/shim/v1/manager.go
  go build -ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$GVISOR" -o "$tree/bin/runsc" ./runsc
  go build -ldflags '-s -w' -o "$tree/bin/containerd-shim-runsc-v1" ./shim
)

mv "$tree/bin" "$folder"
