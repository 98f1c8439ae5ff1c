#!/bin/sh
# Tests whether a runsc supports checkpoints that leave the sandbox running, which a memory fork would need:
#   testing/checkpoint-here.sh [RUNSC]
# A program that counts in memory is checkpointed in several situations. For each, one line tells whether the checkpoint
# succeeded, whether the program continued, and whether a sandbox restored from it continues. See
# docs/adr/0028-memory-forks.md.
set -u
runsc=${1:-runsc}

fail() {
  echo "checkpoint-here: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'it needs root'
for program in "$runsc" perl; do
  command -v "$program" >/dev/null || fail "$program is not installed"
done

work=$(mktemp -d /tmp/isola-checkpoint.XXXXXX)

run() {
  "$runsc" --root="$work/state" --ignore-cgroups --network=none --host-uds=create --overlay2=none "$@"
}

stop() {
  trap - EXIT INT TERM HUP
  for sandbox in source fork; do run delete -force $sandbox >/dev/null 2>&1; done
  umount "$work/full" 2>/dev/null
  rm -rf "$work"
}
trap 'stop; exit 1' INT TERM HUP
trap 'status=$?; stop; exit $status' EXIT

# bundle NAME: creates a bundle with the files of the host, read-only, and NAME-work as /work.
bundle() {
  mkdir -p "$work/$1" "$work/$1-work"
  cat >"$work/$1/config.json" <<EOF
{"ociVersion": "1.0.2", "hostname": "probe", "root": {"path": "/", "readonly": true},
 "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "args": ["perl", "/work/program"],
  "env": ["PATH=/usr/bin:/bin"], "noNewPrivileges": true},
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
  {"destination": "/work", "type": "bind", "source": "$work/$1-work", "options": ["rbind", "rw"]}],
 "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}, {"type": "network"}]}}
EOF
}

count() {
  cat "$work/$1-work/count" 2>/dev/null || echo 0
}

# progress NAME FROM: waits until NAME has counted beyond FROM.
progress() {
  for _ in $(seq 50); do
    [ "$(count "$1")" -le "$2" ] || { echo "continues"; return; }
    sleep 0.1
  done
  echo "ended"
}

# probe WHAT IMAGE PERL: runs PERL before it starts counting.
probe() {
  bundle source
  bundle fork
  cat >"$work/source-work/program" <<EOF
use Socket; use Fcntl;
$3
for (my \$n = 1;; \$n++) {
  open(my \$f, '>', '/work/next') or die; print \$f \$n; close(\$f); rename('/work/next', '/work/count');
  select(undef, undef, undef, 0.1);
}
EOF
  run run --detach --bundle="$work/source" source </dev/null >"$work/output" 2>&1 || fail "$(tail -n 1 "$work/output")"
  [ "$(progress source 3)" = "continues" ] || fail "the program does not count: $(cat "$work/output")"
  # Releases before 2024 end the sandbox, restart it and stay attached.
  run checkpoint --leave-running --image-path="$2" source </dev/null >"$work/output" 2>&1 &
  checkpoint=$!
  saved=saved
  for _ in $(seq 100); do
    kill -0 $checkpoint 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 $checkpoint 2>/dev/null; then
    saved='recreated'
  else
    wait $checkpoint || saved='not saved'
  fi
  before=$(count source)
  after=$(progress source "$before")
  forked="no fork"
  if [ "$saved" != 'not saved' ]; then
    cp "$work/source-work/program" "$work/fork-work"
    run restore --detach --image-path="$2" --bundle="$work/fork" fork </dev/null >"$work/output-fork" 2>&1
    forked="fork $(progress fork 3)"
  fi
  printf '%-28s %-10s source %-8s %s\n' "$1" "$saved" "$after" "$forked"
  [ "$saved" != 'not saved' ] || head -n 1 "$work/output" | cut -c 1-200
  for sandbox in source fork; do run delete -force $sandbox >/dev/null 2>&1; done
  wait
  rm -rf "$work"/source* "$work"/fork* "$work/image"
}

"$runsc" --version | head -n 1
mkdir "$work/full"
mount -t tmpfs -o size=64k tmpfs "$work/full" || fail 'nothing can be mounted'
probe 'nothing special' "$work/image" ''
probe 'a socket in a folder' "$work/image" \
  'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("/work/socket")) or die; listen(S, 1);'
probe 'an open file without a name' "$work/image" 'open(F, ">", "/work/gone") or die; unlink("/work/gone");'
probe 'no space for the checkpoint' "$work/full/image" ''
