package dev.isola.provider.microvm.firecracker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

/**
 * Executables named {@code firecracker} and {@code jailer} that run {@link FirecrackerStub}. The
 * jailer checks its command line and creates the folders that the real one creates. It changes
 * neither the root nor the user, because Java is not in a jail and its files may be the server's
 * alone; the stub then judges files by what that user may do.
 */
final class StubProgram {
  private static final String FIRECRACKER =
      """
      #!/bin/sh
      [ "$1" = --version ] && echo 'Firecracker v@VERSION@' && exit
      exec '@JAVA@' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Xmx48m -cp '@CLASSES@' \
        '-Dstub.faults=@FAULTS@' '-Dstub.log=@LOG@' "-Dstub.user=$STUB_USER" \
        '-Dstub.agent=@AGENT@' dev.isola.provider.microvm.firecracker.FirecrackerStub "$@"
      """;

  private static final String JAILER =
      """
      #!/bin/sh
      set -eu
      [ "$1" = --version ] && echo 'Jailer v@VERSION@' && exit
      id= exec= uid= gid= base=
      while [ $# -gt 0 ]; do
        case $1 in
        --id) id=$2 ;;
        --exec-file) exec=$2 ;;
        --uid) uid=$2 ;;
        --gid) gid=$2 ;;
        --chroot-base-dir) base=$2 ;;
        --resource-limit) case $2 in no-file=*|fsize=*) ;; *) echo "bad limit $2"; exit 1 ;; esac ;;
        --netns) [ -e "$2" ] || { echo "no namespace $2"; exit 1; } ;;
        --) shift; break ;;
        *) echo "Arguments parsing error: Found argument '$1' which was not expected"; exit 153 ;;
        esac
        shift 2
      done
      [ -n "$id" ] && [ -n "$exec" ] && [ -n "$uid" ] && [ -n "$gid" ] && [ -n "$base" ]
      case $id in *[!A-Za-z0-9-]*) echo "Invalid instance ID"; exit 1 ;; esac
      root=$base/$(basename "$exec")/$id/root
      mkdir -p "$root"
      mkdir "$root/dev" "$root/dev/net" # the real one fails, too, if its devices exist
      cp "$exec" "$root/"
      chown "$uid:$gid" "$root"
      cd "$root"
      [ "$uid" = "$gid" ]
      export STUB_USER="$uid"
      exec "./$(basename "$exec")" "--id=$id" --start-time-us=1 --start-time-cpu-us=1 "$@"
      """;

  private final Path folder;

  private StubProgram(Path folder) {
    this.folder = folder;
  }

  static StubProgram install(Path folder) throws IOException {
    return install(folder, "");
  }

  /**
   * @param agent the agent to run on the host instead of a guest; empty for none
   */
  static StubProgram install(Path folder, String agent) throws IOException {
    StubProgram program = new StubProgram(folder);
    Files.writeString(program.faults(), "");
    Files.createFile(program.log());
    write(
        program.firecracker(),
        FIRECRACKER
            .replace("@VERSION@", FirecrackerStub.VERSION)
            .replace("@JAVA@", Path.of(System.getProperty("java.home"), "bin", "java").toString())
            .replace(
                "@CLASSES@",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")))
            .replace("@FAULTS@", program.faults().toString())
            .replace("@LOG@", program.log().toString())
            .replace("@AGENT@", agent));
    write(program.jailer(), JAILER.replace("@VERSION@", FirecrackerStub.VERSION));
    return program;
  }

  /** Writes an executable script. */
  static void write(Path file, String script) throws IOException {
    Files.writeString(file, script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  Path firecracker() {
    return folder.resolve("firecracker");
  }

  Path jailer() {
    return folder.resolve("jailer");
  }

  private Path faults() {
    return folder.resolve("faults");
  }

  private Path log() {
    return folder.resolve("log");
  }

  /** Sets the only fault. */
  void fault(String request, StubFaults.Kind kind, String detail) throws IOException {
    StubFaults.write(faults(), Map.of(request, new StubFaults.Fault(kind, detail)));
  }

  /** Returns what the stubs did, line by line. */
  List<String> lines() throws IOException {
    return Files.readAllLines(log());
  }
}
