#!/bin/sh
# Prints the path of a runc that supports user namespaces of pods, which takes version 1.2:
#   testing/cluster/runc.sh FOLDER
# That is the installed one, or one that is built once into FOLDER, which takes a minute, a C compiler and libseccomp-dev.
# Without them it is the installed one after all, and nodes report that they have no user namespaces.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/versions.sh"
installed=$(command -v runc)
built=$1/runc-$RUNC

# Releases before 1.2.
case $(runc --version 2>/dev/null) in "runc version 1."[01].* | "runc version 1."[01][+-]*) ;; *)
  echo "$installed"
  exit
  ;;
esac
if [ ! -e "$built" ] && pkg-config --exists libseccomp 2>/dev/null && command -v go >/dev/null; then
  echo "runc $RUNC" >&2
  tree=$(mktemp -d "$1/runc.XXXXXX")
  (
    cd "$tree" && go mod init isola.dev/testing && go get "github.com/opencontainers/runc@$RUNC" &&
      CGO_ENABLED=1 go build -mod=mod -trimpath -buildvcs=false -tags seccomp -ldflags '-s -w' \
        -o "$tree/runc" github.com/opencontainers/runc
  ) >"$tree/log" 2>&1 && mv "$tree/runc" "$built"
  rm -rf "$tree"
fi
[ -e "$built" ] && echo "$built" || echo "$installed"
