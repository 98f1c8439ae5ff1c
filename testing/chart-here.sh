#!/bin/sh
# Installs Isola in a Kubernetes cluster of this machine, as docs/operations-kubernetes.md says, and checks what that page
# promises: three servers without privileges, requests through the service, permissions, rolling upgrades under traffic, a
# drained node, backup and restore, removal.
#   packaging/build --image && testing/chart-here.sh
# Real are Kubernetes (testing/cluster-here.sh, two nodes, no DNS, network policies not enforced), the container image of
# packaging/build, PostgreSQL of Debian as a pod, Helm, and the Python SDK as the client. Helm is the program HELM, the one
# on PATH, or the one that packaging/kubernetes/render has built; without it, the plain manifests are installed. Takes about
# ten minutes. Exits with 0 if all checks passed, with 1 if one failed, and with 69 if a part is missing: NOT RUN.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$here")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/isola

not_run() {
  echo "chart-here: NOT RUN: $*" >&2
  exit 69
}

image=$(ls "$root"/target/dist/isola-*-image-"$(uname -m)".tar 2>/dev/null) || not_run 'there is no image; run packaging/build --image'
tag=${image##*/isola-}
tag=${tag%-image-*}
[ "$(id -u)" = 0 ] || not_run 'a node of a cluster needs root'
for program in curl nft python3; do
  command -v "$program" >/dev/null || not_run "$program is not installed (apt-get install curl nftables python3-venv)"
done
if [ -z "${HELM:-}" ] && ! command -v helm >/dev/null; then
  HELM=$(ls "$cache"/helm-*/helm 2>/dev/null | tail -n 1)
  [ -z "$HELM" ] || export HELM
fi

# The SDK runs from its sources, with the library that it needs.
venv=$root/target/chart-python
if [ ! -e "$venv/ready" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2 && "$venv/bin/pip" --quiet install 'httpx>=0.25,<1' >&2 && touch "$venv/ready" ||
    not_run 'httpx cannot be installed (python3-venv, and a package registry)'
fi

tree=$("$here/debian-tree.sh" postgres postgresql) || not_run 'PostgreSQL cannot be installed into a tree of Debian'
images=$(mktemp -d /tmp/isola-chart.XXXXXX) || exit
trap 'rm -rf "$images"' EXIT
trap 'exit 1' INT TERM HUP
python3 "$here/cluster/image.py" --one "$images/postgres.tar" isola.test/postgres:1 "$tree" \
  /usr/lib/postgresql/15/bin || not_run 'the image of PostgreSQL cannot be made'

ISOLA_CLUSTER_PROXY=1 ISOLA_CLUSTER_NODES=2 ISOLA_CLUSTER_IMAGES="$image:$images/postgres.tar" \
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/client/python/src" \
  "$here/cluster-here.sh" "$venv/bin/python" "$here/chart/run.py" "$tag"
