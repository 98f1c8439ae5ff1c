#!/bin/sh
# Runs the tests of the integrations for Python against a private server, from installed packages.
#   testing/python-integrations-here.sh [NAME...]     inspect and deepagents; the default is both
# PROVIDER is the provider of the sandboxes, by default bubblewrap. No language model is called. Prints PASS, FAIL or
# NOT RUN with the reason for each, and exits with 1 if one failed. target/integrations keeps the packages.
set -u
self=$(dirname "$(readlink -f "$0")")
root=$(dirname "$self")
[ "$#" -gt 0 ] || set -- inspect deepagents
port=${ISOLA_PORT:-7796}
for program in python3 curl; do # and busybox, of package busybox-static, for the checks of Inspect
  command -v "$program" >/dev/null || { echo "python-integrations-here: $program is not installed" >&2; exit 69; }
done
work=$(mktemp -d /tmp/isola-py.XXXXXX)
server=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  "$root/isola" purge --yes --data "$work/data" >/dev/null 2>&1
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# An image in which users can be added, and a user who is not root.
if command -v busybox >/dev/null; then
  mkdir -p "$work/root/usr/bin" "$work/root/etc" "$work/root/home/user" "$work/root/tmp" "$work/root/workspace"
  chmod 1777 "$work/root/tmp"
  cp "$(command -v busybox)" "$work/root/usr/bin/busybox"
  ln -s usr/bin "$work/root/bin"
  ln -s usr/bin "$work/root/sbin"
  for applet in $(busybox --list); do
    [ -e "$work/root/usr/bin/$applet" ] || ln -s busybox "$work/root/usr/bin/$applet"
  done
  # As much of adduser as the checks need: Debian's busybox has none.
  cat >"$work/root/usr/bin/adduser" <<'END'
#!/bin/sh
[ "$1" != --help ] || exit 0
for name; do :; done
echo "$name:x:1001:1001::/home/user:/bin/sh" >>/etc/passwd
END
  chmod 755 "$work/root/usr/bin/adduser"
  printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n' >"$work/root/etc/passwd"
  printf 'root:x:0:\nuser:x:1000:\n' >"$work/root/etc/group"
  "$root/isola" image import --local --data "$work/data" small "$work/root" >/dev/null || exit 1
  echo '{"image": "small", "user": "user"}' >"$work/isola.json"
  export ISOLA_SPEC="$work/isola.json"
fi

ISOLA_API_KEY=isk_$(head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n')
export ISOLA_API_KEY ISOLA_URL="http://127.0.0.1:$port"
"$root/isola" serve --data "$work/data" --port "$port" --set "provider=${PROVIDER:-bubblewrap}" >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  curl -sf "$ISOLA_URL/readyz" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.5
done

code=0
for name in "$@"; do
  from=$root/integrations/python/$name
  environment=$root/target/integrations/$name
  [ -d "$from" ] || { echo "python-integrations-here: there is no integration $name" >&2; exit 2; }
  if ! { { [ -x "$environment/bin/python" ] || python3 -m venv "$environment"; } &&
    "$environment/bin/pip" install -q --disable-pip-version-check flit_core pytest pytest-asyncio &&
    PYTHON=$environment/bin/python "$root/packaging/build-python" "$work/dist" &&
    "$environment/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$work"/dist/*.whl &&
    "$environment/bin/pip" install -q --disable-pip-version-check "isola" "$from"; } >"$work/$name.log" 2>&1; then
    echo "NOT RUN $name: its packages cannot be installed: $(tail -n 1 "$work/$name.log")"
    continue
  fi
  if (cd "$work" && "$environment/bin/python" -m pytest -q -p no:cacheprovider "$from/tests") >"$work/$name.log" 2>&1; then
    echo "PASS $name: $(tail -n 1 "$work/$name.log")"
  else
    echo "FAIL $name"
    sed 's/^/  /' "$work/$name.log"
    code=1
  fi
done
exit "$code"
