#!/bin/sh
# Runs isola bench on a file system created for the run and removed afterwards: ext4 skips recently freed inodes one by
# one, so on a disk in use the same work may take ten times as long. Requires root.
#   bench/fresh-disk.sh files --provider subprocess --against tar,cp
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
if [ "${ISOLA_FRESH_DISK:-}" = "" ]; then
  [ "$(id -u)" = 0 ] || { echo 'fresh-disk: mounting requires root; run isola bench directly instead' >&2; exit 69; }
  for tool in mkfs.ext4 unshare mount; do
    command -v "$tool" >/dev/null || { echo "fresh-disk: $tool is missing (e2fsprogs, util-linux)" >&2; exit 69; }
  done
  "$root/isola" --version >/dev/null # builds before the measurement
  ISOLA_FRESH_DISK=$(mktemp -d)
  export ISOLA_FRESH_DISK
  trap 'rm -rf "$ISOLA_FRESH_DISK"' EXIT
  unshare --mount "$0" "$@" # the mounts end with the namespace
  exit
fi
truncate -s 12G "$ISOLA_FRESH_DISK/image"
mkfs.ext4 -q -F "$ISOLA_FRESH_DISK/image"
mkdir "$ISOLA_FRESH_DISK/disk"
mount -o loop "$ISOLA_FRESH_DISK/image" "$ISOLA_FRESH_DISK/disk"
mkdir "$ISOLA_FRESH_DISK/disk/tmp"
JDK_JAVA_OPTIONS="-Djava.io.tmpdir=$ISOLA_FRESH_DISK/disk/tmp" \
  "$root/isola" bench "$@" --data "$ISOLA_FRESH_DISK/disk/data"
