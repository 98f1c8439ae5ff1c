#!/bin/sh
# Installs the Debian package in a tree of Debian with systemd as its first process (systemd-nspawn), starts the unit,
# creates a sandbox through the command line, restarts the service, and removes everything as docs/operations.md says.
# Then nothing is left: the files, users, units, processes and control groups are those of before the installation.
#   testing/debian-package-here.sh [--planted-fault] [PACKAGE]    by default that of packaging/build --deb
# With --planted-fault the package leaves a file, a user, a process and a control group behind, which must be reported.
# What it did is printed; the exit status is 0 if all of it worked and nothing is left.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
planted=
if [ "${1:-}" = --planted-fault ]; then
  planted=yes
  shift
fi
package=$(readlink -f "${1:-$(ls "$root"/target/dist/isola_*.deb)}")

fail() {
  echo "debian-package-here: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'systemd-nspawn needs root'
[ -r "$package" ] || fail 'no package; run packaging/build --deb'
command -v systemd-nspawn >/dev/null || fail 'systemd-nspawn is not installed (apt-get install systemd-container)'
debian=$("$root/testing/debian-tree.sh" systemd systemd,systemd-sysv,dbus,bubblewrap,curl) || exit
tree=$(mktemp -d /var/tmp/isola-debian.XXXXXX) || exit
machine=${tree##*.}
groups=$(for group in payload supervisor; do
  for own in $(sed -n 's/^[0-9]*:name=systemd:/systemd/p; s/^0::/unified/p; s/^0:://p' /proc/self/cgroup); do
    [ -e "/sys/fs/cgroup/$own/$group" ] || [ ! -e "/sys/fs/cgroup/$own" ] || echo "/sys/fs/cgroup/$own/$group"
  done
done)
clean_up() {
  rm -rf "$tree"
  rmdir "/run/systemd/nspawn/propagate/$machine" 2>/dev/null
  # shellcheck disable=SC2086 # a list of folders
  find $groups -depth -type d -exec rmdir {} + 2>/dev/null
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
chmod 755 "$tree"
tar -C "$tree" -xf "$debian" --exclude='./dev/*' || fail 'the tree cannot be unpacked'
mkdir "$tree/test"
cp "$package" "$tree/test/isola.deb"

# The state of the machine, one line each. The logs and caches of apt, dpkg and systemd are not the package's.
cat >"$tree/test/state" <<'END'
find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /test -o -path /var/log -o -path /var/cache \
  -o -path /var/lib/apt -o -path /var/lib/systemd -o -path '/var/lib/dpkg/*-old' -o -path /var/tmp/systemd-private-\* \) -prune -o -printf 'file %p\n'
find /etc -type f -exec sha256sum {} + | sed 's/^/content /'
sed 's/^/user /' /etc/passwd
sed 's/^/group /' /etc/group
systemctl list-unit-files --no-legend --no-pager | sed 's/^/unit file /'
systemctl list-units --all --no-legend --no-pager '*isola*' | sed 's/^/unit /'
for process in /proc/[0-9]*; do
  case $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) in *isola*) echo "process ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline")" ;; esac
done
# Other installations may have control groups at the same time.
find /sys/fs/cgroup -type d \( -path '*/system.slice/*isola*' -o -name "*-$(cat /test/instance 2>/dev/null || echo none)-*" \) ! -name 'isola-test*' |
  sed 's/^/control group /'
find /run -name '*isola*' ! -name 'isola-test*' ! -path '/run/credentials*' | sed 's/^/runtime file /'
awk '/isola/ { print "mount " $5 }' /proc/self/mountinfo
END

cat >"$tree/test/run" <<'END'
set -u
export DEBIAN_FRONTEND=noninteractive ISOLA_URL=http://127.0.0.1:7777 HOME=/root
cd /root
step() {
  echo "== $*"
}
state() { sh /test/state 2>/dev/null | LC_ALL=C sort; }
must() {
  "$@" || {
    echo "FAILED ($?): $*"
    journalctl -u isola -o cat --no-pager | tail -n 20
    exit 1
  }
}
ready() {
  must curl -sf --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null "$ISOLA_URL/readyz"
}
step "process 1: $(cat /proc/1/comm), $(systemctl --version | head -n 1), system $(systemctl is-system-running)"
state >/test/before
step install
must apt-get install -qq -y /test/isola.deb
must sh -c '! command -v java && ! command -v cc'
ISOLA_API_KEY=isk_$(od -An -N 32 -tx1 /dev/urandom | tr -d ' \n')
export ISOLA_API_KEY
echo "ISOLA_API_KEY=$ISOLA_API_KEY" | install -m 600 /dev/stdin /etc/isola/environment
step start
must systemctl enable --now isola
ready
echo "the unit is $(systemctl is-active isola), $(systemctl is-enabled isola)"
step 'a sandbox'
must isola create --name first
must [ "$(isola exec first -- sh -c 'echo $((6 * 7)) > sum; cat sum')" = 42 ]
isola ls
cp /var/lib/isola/instance /test/instance
step 'a restart of the service leaves the sandbox as it is'
must systemctl restart isola
ready
must [ "$(isola exec first -- cat sum)" = 42 ]
state >/test/during
echo "while it runs: $(LC_ALL=C comm -13 /test/before /test/during | wc -l) lines more, among them"
LC_ALL=C comm -13 /test/before /test/during | grep -v '^file /usr/lib/isola\|^file /var/lib/isola' | cut -c 1-150 | grep '^unit\|^process\|^control\|^mount\|^runtime' | head -n 12
step remove
must systemctl disable --now isola
must isola purge --yes
must apt-get purge -qq -y isola
if [ -e /test/plant ]; then
  mkdir -p /var/lib/isola/planted
  echo 'isola:x:999:999::/:/bin/false' >>/etc/passwd
  mkdir "$(find /sys/fs/cgroup -path '*system.slice' -type d | head -n 1)/isola-planted"
  systemd-run --quiet --unit=isola-planted sleep 60
fi
state >/test/after
LC_ALL=C diff /test/before /test/after >/test/left
if [ -s /test/left ]; then
  echo 'LEFT:'
  cut -c 1-200 /test/left
  exit 1
fi
echo "nothing is left: $(wc -l </test/after) lines of state are the same as before"
echo PASSED
END
[ -z "$planted" ] || : >"$tree/test/plant"
cat >"$tree/etc/systemd/system/isola-test.service" <<'END'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh /test/run
ExecStopPost=systemctl --no-block poweroff
StandardOutput=file:/test/output
StandardError=inherit
[Install]
WantedBy=default.target
END
ln -s /etc/systemd/system/isola-test.service "$tree/etc/systemd/system/multi-user.target.wants/"

# As on a machine, /proc/sys and the control groups are writable. systemd-nspawn leaves two control groups in its own.
export SYSTEMD_NSPAWN_API_VFS_WRITABLE=yes
timeout --kill-after=10 400 systemd-nspawn --quiet --register=no --keep-unit --machine="$machine" --directory="$tree" --boot </dev/null >"$tree/test/console" 2>&1
[ -s "$tree/test/output" ] || {
  tail -n 20 "$tree/test/console" >&2
  fail 'systemd did not boot'
}
cat "$tree/test/output"
grep -q '^PASSED$' "$tree/test/output"
