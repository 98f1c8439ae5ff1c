#!/bin/sh
# Prints the folder with the controller of agent-sandbox and its custom resource definitions:
#   testing/cluster/agent-sandbox.sh FOLDER [cached]
# It is built once into FOLDER, from its Go module, which takes some minutes. With "cached" it is never built, and nothing
# is printed if it is not there.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/versions.sh"
built=$1/agent-sandbox-$AGENT_SANDBOX

if [ ! -d "$built" ]; then
  [ "${2:-}" != cached ] || exit 0
  echo "agent-sandbox $AGENT_SANDBOX" >&2
  tree=$(mktemp -d "$1/agent-sandbox.XXXXXX")
  trap 'chmod -R u+w "$tree" && rm -rf "$tree"' EXIT
  export CGO_ENABLED=0 GOFLAGS="-mod=mod -trimpath -buildvcs=false" GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"
  export GOCACHE="${ISOLA_CLUSTER_GOCACHE:-$tree/cache}"
  m=sigs.k8s.io/agent-sandbox
  mkdir "$tree/module" "$tree/built"
  (
    cd "$tree/module"
    go mod init isola.dev/testing
    go get "$m@$AGENT_SANDBOX"
    go build -ldflags '-s -w' -o "$tree/built/" "$m/cmd/agent-sandbox-controller"
    cp "$(go list -m -f '{{.Dir}}' "$m")"/k8s/crds/*.yaml "$tree/built/"
  ) >"$tree/log" 2>&1 || {
    cat "$tree/log" >&2
    exit 1
  }
  chmod -R u+w "$tree/built"
  mv "$tree/built" "$built"
fi
echo "$built"
