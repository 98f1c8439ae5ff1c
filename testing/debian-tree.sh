#!/bin/sh
# Makes a tree of Debian as a tar archive with mmdebstrap, once, and prints its path. For other scripts of this folder.
#   testing/debian-tree.sh NAME PACKAGE,...
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
file=$root/target/debian/$1.tar
if [ ! -e "$file" ]; then
  command -v mmdebstrap >/dev/null || {
    echo 'debian-tree: mmdebstrap is not installed (apt-get install mmdebstrap)' >&2
    exit 69
  }
  mkdir -p "${file%/*}"
  mmdebstrap --quiet --format=tar --variant=minbase --include="$2" bookworm "$file.new" >&2
  mv "$file.new" "$file"
fi
echo "$file"
