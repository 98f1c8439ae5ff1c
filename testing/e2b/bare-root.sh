#!/bin/sh
# Creates a root file system in FOLDER from the static busybox of this machine, with neither bash nor the user `user`, like most images of a registry.
# usage: bare-root.sh FOLDER
set -eu
root=$1
busybox=$(command -v busybox) || { echo "bare-root: busybox is not installed" >&2; exit 1; }
mkdir -p "$root/bin" "$root/etc" "$root/root" "$root/tmp" "$root/usr"
cp -L "$busybox" "$root/bin/busybox"
for program in sh ash ls cat cp chmod chown dirname echo env false grep head id ln mkdir mv pwd rm rmdir sed seq sleep stat tail test touch \
    true wc whoami; do
    ln -s busybox "$root/bin/$program"
done
printf 'root:x:0:0:root:/root:/bin/sh\nother:x:1000:1000::/:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\nother:x:1000:\nwheel:x:10:root\n' > "$root/etc/group"
