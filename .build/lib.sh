# Sourced by ./isola, ./check and the scripts in packaging: finds the JDK and the tools of the build. POSIX sh, no subshell on
# the way to a JDK, because ./isola pays for it on every call.
# Before: $root is the repository. After find_jdk: $jdk is the folder of a JDK 25 or newer.

least_java=25

# fail EXIT MESSAGE: one line on stderr, exit code from sysexits.h (69 unavailable, 70 internal).
fail() {
  printf '%s: %s\n' "${0##*/}" "$2" >&2
  exit "$1"
}

# find_jdk: JAVA_HOME first, then java on PATH, then the newest in the usual folders.
find_jdk() {
  jdk=
  java_on_path=$(command -v java) && java_on_path=$(readlink -f "$java_on_path")
  for candidate in "${JAVA_HOME:-}" "${java_on_path%/bin/java}"; do
    jdk_rank "$candidate" && jdk=$candidate && return
  done
  best=0
  for candidate in /usr/lib/jvm/* /opt/*jdk* /opt/java/* \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
    jdk_rank "$candidate" && [ "$rank" -gt "$best" ] && best=$rank && jdk=$candidate
  done
  [ -n "$jdk" ] || fail 69 "no JDK $least_java or newer found: install one \
(e.g. Temurin from adoptium.net, or your system's openjdk-$least_java-jdk-headless) or set JAVA_HOME"
}

# jdk_rank FOLDER: whether it is a JDK new enough; 25.0.3 has $rank 25000003. Reads the release
# file instead of starting a JVM.
jdk_rank() {
  [ -n "$1" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  rank=0
  while read -r line; do
    case $line in JAVA_VERSION=*) break ;; esac
  done <"$1/release"
  version=${line#JAVA_VERSION=\"}
  version=${version%%\"*}
  old_ifs=$IFS
  IFS=.
  # shellcheck disable=SC2086 # split at the dots
  set -- $version
  IFS=$old_ifs
  for part in "${1:-0}" "${2:-0}" "${3:-0}"; do
    part=${part%%[!0-9]*}
    rank=$((rank * 1000 + ${part:-0}))
  done
  [ "$rank" -ge $((least_java * 1000000)) ]
}

# need COMMAND:PACKAGE...: what is missing is installed where that is possible without asking
# (root on Debian), and named otherwise. The static C library has no command: "libc.a:PACKAGE".
need() {
  want "$@"
  [ -z "$missing" ] || fail 69 "not installed: $missing; on Debian or Ubuntu: sudo apt-get install $missing"
}

# want COMMAND:PACKAGE...: like need, of what is optional; a failure to install it is ignored.
want() {
  missing=$(missing "$@")
  [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  printf '%s: installing %s\n' "${0##*/}" "$missing" >&2
  [ -n "${apt_updated:-}" ] || apt-get -qq update </dev/null >/dev/null 2>&1
  apt_updated=1
  # shellcheck disable=SC2086 # a list of packages
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $missing \
    </dev/null >/dev/null 2>&1
  missing=$(missing "$@")
}

missing() {
  list=
  for pair in "$@"; do
    case ${pair%%:*} in
    libc.a) case $(cc -print-file-name=libc.a 2>/dev/null) in */*) continue ;; esac ;;
    *) command -v "${pair%%:*}" >/dev/null && continue ;;
    esac
    list="$list${list:+ }${pair#*:}"
  done
  printf '%s' "$list"
}

# maven ARGUMENT...: Maven on the JDK found. Its own libraries warn on 25; that is not our output.
maven() {
  JAVA_HOME=$jdk \
    MAVEN_OPTS="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}" \
    mvn -B -ntp -f "$root/pom.xml" "$@"
}

# source_date: exports SOURCE_DATE_EPOCH, unless it is set: the time of the commit, which the files of a release have.
source_date() {
  [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=315532800
  export SOURCE_DATE_EPOCH
}
