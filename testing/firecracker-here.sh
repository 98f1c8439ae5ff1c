#!/bin/sh
# Runs the conformance kit against a real Firecracker, with its jailer beside it:
#   ISOLA_FIRECRACKER=/opt/firecracker/firecracker testing/firecracker-here.sh [ARGUMENT OF isola conformance]...
# It needs root, a KVM that boots machines, an image named base (isola image build base) and a kernel for guests
# (packaging/microvm-kernel FOLDER, then ISOLA_TEST_VMLINUZ=FOLDER/boot/vmlinuz-*). The exit status is that of the kit, which
# skips a provider that is not healthy and prints the reason; 69, with the reason after NOT RUN, if something is missing.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")

not_run() {
  echo "NOT RUN: $*" >&2
  exit 69
}

[ -n "${ISOLA_FIRECRACKER:-}" ] || not_run 'ISOLA_FIRECRACKER does not name a Firecracker; download a release of firecracker-microvm/firecracker'
[ -x "$ISOLA_FIRECRACKER" ] || not_run "$ISOLA_FIRECRACKER cannot be executed"
[ "$(id -u)" = 0 ] || not_run 'the jailer needs root'
[ -x "$(dirname "$ISOLA_FIRECRACKER")/jailer" ] || not_run "there is no jailer beside $ISOLA_FIRECRACKER"
[ -r /dev/kvm ] && [ -w /dev/kvm ] || not_run '/dev/kvm is not accessible'
kernel=${ISOLA_TEST_VMLINUZ:-}
if [ -z "$kernel" ]; then
  kernel=$("$root/packaging/microvm-kernel" "${TMPDIR:-/tmp}/isola-kernel") || not_run 'there is no kernel for guests'
fi
set -- --set "program=$ISOLA_FIRECRACKER" --set "kernel=$kernel" "$@"
"$ISOLA_FIRECRACKER" --version | head -n 1
exec "$root/isola" conformance firecracker --verbose "$@"
