#!/bin/sh
# Runs the ten tasks of docs/ten-tasks.md from the files that packaging/build has made, and from nothing else of this clone:
# the command line, curl and the server from the tarball, Python from the wheel in a fresh environment, TypeScript from
# the npm package, Java from a fresh Maven repository that packaging/install-maven fills, in a project that imports the
# BOM. Also the block of Python in the README.
#   testing/release-here.sh [TASK...]    by default all ten
# Ends with "N passed, N failed" and status 0 if none failed. It needs python3 with venv, Node.js, npm, Maven, a JDK 25,
# curl, and package registries for the libraries of the SDKs. ISOLA_REPOSITORY names a repository that is filled already.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
. "$root/.build/lib.sh"
find_jdk
export JAVA_HOME="$jdk"
dist=$root/target/dist
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail 70 "run packaging/build first"
work=$(mktemp -d /var/tmp/isola-release.XXXXXX) || exit
server=
stop() {
  trap - EXIT
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null
    wait "$server"
    "$work"/isola-*/isola purge --yes >/dev/null
  fi
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
step() { echo "== $*"; }

step 'the tarball'
tar -C "$work" -xzf "$dist"/isola-*-linux-*.tar.gz || fail 70 'the tarball cannot be unpacked'
PATH=$(echo "$work"/isola-*/bin):$PATH
builder=$HOME # with the settings of Maven
export PATH ISOLA_DATA="$work/data" HOME="$work/home"
mkdir "$HOME"
isola version || fail 70 'isola does not start'

step 'the wheel, in a fresh environment'
python3 -m venv "$work/python" &&
  "$work/python/bin/python" -m pip install -q --disable-pip-version-check "$(echo "$dist"/isola-*.whl)[terminals]" ||
  fail 70 'the wheel cannot be installed'

step 'the npm package'
mkdir -p "$work/node"
(cd "$work/node" && echo '{"private": true, "type": "module"}' >package.json &&
  npm install --no-audit --no-fund --loglevel=error "$dist"/isola-sdk-*.tgz typescript@7.0.2 @types/node >/dev/null) ||
  fail 70 'the npm package cannot be installed'

step 'the Maven artifacts, in a fresh repository'
repository=${ISOLA_REPOSITORY:-$work/repository}
[ -n "${ISOLA_REPOSITORY:-}" ] || HOME=$builder "$root/packaging/install-maven" -Dmaven.repo.local="$repository" || fail 70 'the artifacts cannot be installed'
for artifact in isola-client isola-client-junit isola-spi isola-conformance isola-embedded; do
  for kind in '' -sources -javadoc; do
    ls "$repository/dev/isola/$artifact"/*/"$artifact"-*[!cs]$kind.jar >/dev/null 2>&1 ||
      ls "$repository/dev/isola/$artifact"/*/*$kind.jar >/dev/null || fail 70 "$artifact$kind is missing"
  done
done
version=$(ls "$repository/dev/isola/isola-bom" | grep -v maven-metadata | head -n 1)
mkdir -p "$work/java/src/main/java"
cat >"$work/java/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>outside</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>25</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>dev.isola</groupId>
        <artifactId>isola-bom</artifactId>
        <version>$version</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>dev.isola</groupId>
      <artifactId>isola-client</artifactId>
    </dependency>
  </dependencies>
  <build>
    <pluginManagement>
      <plugins>
        <plugin>
          <artifactId>maven-compiler-plugin</artifactId>
          <version>3.16.0</version>
        </plugin>
      </plugins>
    </pluginManagement>
  </build>
</project>
END
"$work/python/bin/python" "$root/testing/release/ten_tasks.py" "$root/docs/ten-tasks.md" "$work" --write || exit
HOME=$builder mvn -B -q -ntp -f "$work/java/pom.xml" -Dmaven.repo.local="$repository" compile \
  org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath -Dmdep.outputFile="$work/java/classpath" </dev/null ||
  fail 70 'the project that imports the BOM does not compile'
tr : '\n' <"$work/java/classpath" | grep -v "^$repository/" && fail 70 'the class path has jars from elsewhere'
(cd "$work/node" && node_modules/.bin/tsc --strict --target es2022 --module nodenext --lib esnext,dom --skipLibCheck --outDir out task*.ts) ||
  fail 70 'the blocks in TypeScript do not compile'

step 'a server from the tarball'
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ISOLA_API_KEY=isk_$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
export ISOLA_API_KEY ISOLA_URL="http://127.0.0.1:$port"
isola serve --port "$port" 2>"$work/server.log" &
server=$!
curl -sf --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null "$ISOLA_URL/readyz" || {
  tail -n 5 "$work/server.log" >&2
  fail 70 'the server did not start'
}

step 'the ten tasks'
"$work/python/bin/python" "$root/testing/release/ten_tasks.py" "$root/docs/ten-tasks.md" "$work" "$@"
status=$?

step 'the block of Python in the README'
awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/readme.py"
if [ -s "$work/readme.py" ] && (cd "$work/home" && "$work/python/bin/python" -I "$work/readme.py"); then
  echo 'README: passed'
else
  echo 'README: FAILED'
  status=1
fi
exit $status
