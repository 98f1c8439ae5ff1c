#!/bin/sh
# isola bench on a file system of its own, made for the run and removed after it: ext4 passes over inodes that were
# freed in the last minutes one by one, so on a disk in use the same work takes one time or ten. For root.
#   bench/fresh-disk.sh files --provider subprocess --against tar,cp
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
if [ "${ISOLA_FRESH_DISK:-}" = "" ]; then
  [ "$(id -u)" = 0 ] || { echo 'fresh-disk: only root can mount; run isola bench itself' >&2; exit 69; }
  for tool in mkfs.ext4 unshare mount; do
    command -v "$tool" >/dev/null || { echo "fresh-disk: $tool is missing (e2fsprogs, util-linux)" >&2; exit 69; }
  done
  "$root/isola" --version >/dev/null # built before anything is measured
  ISOLA_FRESH_DISK=$(mktemp -d)
  export ISOLA_FRESH_DISK
  trap 'rm -rf "$ISOLA_FRESH_DISK"' EXIT
  unshare --mount "$0" "$@" # what is mounted in there ends with it
  exit
fi
truncate -s 12G "$ISOLA_FRESH_DISK/image"
mkfs.ext4 -q -F "$ISOLA_FRESH_DISK/image"
mkdir "$ISOLA_FRESH_DISK/disk"
mount -o loop "$ISOLA_FRESH_DISK/image" "$ISOLA_FRESH_DISK/disk"
mkdir "$ISOLA_FRESH_DISK/disk/tmp"
JDK_JAVA_OPTIONS="-Djava.io.tmpdir=$ISOLA_FRESH_DISK/disk/tmp" \
  "$root/isola" bench "$@" --data "$ISOLA_FRESH_DISK/disk/data"
