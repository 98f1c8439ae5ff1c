#!/bin/sh
# A command of the local_microvm contract for tests: its machines are folders, without isolation. It has what the
# contract has and no more: no JSON errors, no standard input for exec, no features in its probe.
set -u
machines=${0%/*}/machines
verb=$1
shift
id= path= ms=1000
while [ $# -gt 0 ]; do
  case $1 in
  --id) id=$2 && shift 2 ;;
  --path) path=$2 && shift 2 ;;
  --ttl-ms | --timeout-ms) ms=$2 && shift 2 ;;
  --base64 | --json) shift ;;
  --) shift && break ;;
  *) echo "unknown option: $1" >&2 && exit 2 ;;
  esac
done
need() {
  [ -d "$machines/$id" ] || { echo "no machine $id" >&2 && exit 1; }
}
case $verb in
probe) echo ready ;;
create) mkdir -p "$machines" && mkdir "$machines/$id" || exit 1 ;;
exec) need && exec timeout -s KILL "$((ms / 1000)).$(printf %03d $((ms % 1000)))" "$@" </dev/null ;;
write) need && mkdir -p -- "${path%/*}" && cat >"$path" ;;
read) need && base64 -- "$path" ;;
list)
  need
  python3 -c '
import json, os, sys
folder = sys.argv[1]
entries = [{"name": e.name, "path": e.path, "type": "dir" if e.is_dir() else "file", "size": e.stat().st_size}
           for e in os.scandir(folder)]
print(json.dumps({"entries": entries}))' "$path"
  ;;
kill) rm -rf -- "${machines:?}/$id" "/tmp/.${id:?}" ;;
*) echo "unknown verb: $verb" >&2 && exit 2 ;;
esac
