#!/bin/sh
# Becomes the kubelet: sh kubelet.sh FOLDER WORD...
# It would change these settings of the whole machine; in its own mount namespace it reads that they are as it wants. The
# other processes of the node see all of /proc: a user namespace may mount only what its parent sees completely.
set -eu
folder=$1
shift
mount --make-rprivate /proc
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$folder/setting-$(basename "${setting%=*}")
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done
exec kubelet "$@"
