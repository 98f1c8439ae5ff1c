# Sourced by ./isola and by the launcher of a release: the JVM's flags for each command.

# jvm_flags COMMAND: sets $kind and $flags. A server lives long; any other command wants to start
# fast. The JVM never writes warnings between our lines; a server's JVM may report its errors.
# A process ends when its heap is exhausted, because it cannot know which of its threads have failed. A new server
# finds the sandboxes again.
# Collector and object headers are the same for all, so that a release has one class archive.
jvm_flags() {
  flags='--enable-native-access=ALL-UNNAMED -Xlog:disable -Dslf4j.internal.verbosity=ERROR -XX:+UseSerialGC -XX:+UseCompactObjectHeaders -XX:+ExitOnOutOfMemoryError'
  case $1 in
  serve | bench | conformance | train-serve)
    kind=server
    flags="$flags -Xlog:all=error,aot*=off,cds*=off:stderr -Xms16m"
    ;;
  *)
    kind=cli
    flags="$flags -XX:TieredStopAtLevel=1"
    ;;
  esac
}
