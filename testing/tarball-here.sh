#!/bin/sh
# Measures the first use of the tarball on a machine without Java and without a compiler: in a minimal Debian tree with
# bubblewrap, in namespaces (mount, pid, ipc, uts) of its own, with the root of the tree as its root.
#   testing/tarball-here.sh [TARBALL [RUNS]]    by default that of packaging/build, five times
# Prints the seconds from the start of tar to the end of "isola run -- echo hi". It fails if a run takes 3 s or more,
# prints anything else, or if the tree has java or cc.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
tarball=$(readlink -f "${1:-$(ls "$root"/target/dist/isola-*-linux-*.tar.gz)}")
runs=${2:-5}
limit=3

fail() {
  echo "tarball-here: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'making the tree and its namespaces needs root'
[ -r "$tarball" ] || fail "no tarball; run packaging/build"
debian=$("$root/testing/debian-tree.sh" plain bubblewrap) || exit
tree=$(mktemp -d /var/tmp/isola-tarball.XXXXXX) || exit
trap 'rm -rf "$tree"' EXIT
trap 'exit 1' INT TERM HUP
tar -C "$tree" -xf "$debian" --exclude='./dev/*'

# Inside: process 1 of the namespaces. A chroot would not do: the kernel lets no process create a user namespace in one.
cat >"$tree/enter" <<'END_OF_SCRIPT'
set -eu
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
ln -s /proc/self/fd dev/fd
mkdir -p outside "srv/$2"
pivot_root . outside
umount -l /outside
cp /tarball "/srv/$2/isola.tar.gz"
cd "/srv/$2"
! command -v java cc gcc >&2 || exit 1
export HOME=/root
started=$(date +%s%N)
tar xzf isola.tar.gz && cd isola-*/ && ./isola run -- echo hi >output
echo "$((($(date +%s%N) - started) / 1000000)) $(cat output)"
./isola purge --yes >/dev/null
END_OF_SCRIPT
cp "$tarball" "$tree/tarball"

status=0
for run in $(seq "$runs"); do
  result=$(unshare --mount --pid --fork --kill-child --ipc --uts sh "$tree/enter" "$tree" "run$run") || fail "run $run failed"
  milliseconds=${result%% *}
  verdict=
  [ "${result#* }" = hi ] || verdict=", but printed: ${result#* }"
  [ "$milliseconds" -lt "${limit}000" ] || verdict="$verdict, which is not under $limit s"
  [ -z "$verdict" ] || status=1
  printf 'run %s: %s.%03d s%s\n' "$run" $((milliseconds / 1000)) $((milliseconds % 1000)) "$verdict"
  rm -rf "$tree/srv/run$run"
done
echo "load: $(cut -d ' ' -f 1-3 /proc/loadavg) on $(nproc) processors; tarball: $(($(stat -c %s "$tarball") / 1000000)) MB"
exit $status
