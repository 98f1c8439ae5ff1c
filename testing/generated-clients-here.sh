#!/bin/sh
# Generates clients from the OpenAPI document of a private server, in Python and in Java, compiles them, and runs them
# against that server: create a sandbox, run a command, write, read and list files, destroy.
#   testing/generated-clients-here.sh [python] [java]      the default is both
# openapi-python-client comes from PyPI, openapi-generator-cli and the libraries of the Java client from Maven Central.
set -u
self=$(dirname "$(readlink -f "$0")")
isola=${ISOLA:-$self/../isola}
port=${ISOLA_CLIENTS_PORT:-7797}
generator=org.openapitools:openapi-generator-cli:7.16.0:jar
[ "$#" -gt 0 ] || set -- python java
for program in python3 mvn java curl; do
  command -v "$program" >/dev/null || { echo "generated-clients-here: $program is not installed" >&2; exit 1; }
done
work=$(mktemp -d /tmp/isola-clients.XXXXXX)
server=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# quiet COMMAND: the output is shown if it fails
quiet() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; echo "generated-clients-here: $1 failed" >&2; exit 1; }
}

ISOLA_API_KEY=isk_$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
ISOLA_URL=http://127.0.0.1:$port
export ISOLA_API_KEY ISOLA_URL
"$isola" serve --data "$work/data" --port "$port" --set "provider=${ISOLA_CLIENTS_PROVIDER:-bubblewrap}" \
  >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  curl -sf "$ISOLA_URL/readyz" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.5
done
curl -sf "$ISOLA_URL/api/v1/openapi.json" -o "$work/openapi.json" || exit 1

for language in "$@"; do
  case $language in
  python)
    venv=${ISOLA_CLIENTS_VENV:-$work/venv}
    if [ ! -x "$venv/bin/openapi-python-client" ]; then
      quiet python3 -m venv "$venv"
      quiet "$venv/bin/pip" install -q -r "$self/generated-clients/requirements.txt"
    fi
    PATH=$venv/bin:$PATH # the generator runs ruff
    quiet openapi-python-client generate --path "$work/openapi.json" --meta none \
      --output-path "$work/python/isola_client" --config "$self/generated-clients/python.yaml" --fail-on-warning
    export PYTHONPATH="$work/python" MYPYPATH="$work/python"
    quiet mypy --config-file "$self/generated-clients/mypy.ini" --cache-dir "$work/mypy" \
      "$self/generated-clients/use_client.py"
    "$venv/bin/python" -B "$self/generated-clients/use_client.py" || exit 1
    ;;
  java)
    quiet mvn -q dependency:copy -Dartifact=$generator -DoutputDirectory="$work" -Dmdep.stripVersion=true
    quiet java -jar "$work/openapi-generator-cli.jar" generate -i "$work/openapi.json" -g java \
      -o "$work/java" --additional-properties=invokerPackage=dev.isola.generated,apiPackage=dev.isola.generated.api,modelPackage=dev.isola.generated.model,hideGenerationTimestamp=true \
      --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
    mkdir -p "$work/java/src/main/java" && cp "$self/generated-clients/UseClient.java" "$work/java/src/main/java/" || exit 1
    quiet mvn -q -f "$work/java/pom.xml" -DskipTests package dependency:build-classpath \
      -Dmdep.outputFile="$work/classpath"
    java -cp "$work/java/target/classes:$(cat "$work/classpath")" UseClient || exit 1
    ;;
  *)
    echo "generated-clients-here: '$language' is neither python nor java" >&2
    exit 2
    ;;
  esac
done
