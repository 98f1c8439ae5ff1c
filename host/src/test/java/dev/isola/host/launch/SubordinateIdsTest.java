package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a sandbox of an ordinary user reads of that user's own files, with and without subordinate
 * ids. Root acts as the ordinary user in a mount namespace in which that user has a range.
 */
final class SubordinateIdsTest {
  private static final int CALLER = 65_534;
  private static final String FIRST = "200000";
  private static final String READ =
      "exec 2>&1; cd /tmp/root/shown; cat *.txt private/*; id -u; exit 1";

  /** A folder that ordinary users can reach; removed after the test. */
  @TempDir Path folder;

  private Path program;
  private Path shown;

  @BeforeEach
  void createFiles() throws IOException {
    mode(folder, "rwxr-xr-x");
    program = LauncherBinary.in(folder.resolve("data")).path();
    mode(folder.resolve("data"), "rwxr-xr-x");
    mode(program, "rwxr-xr-x");
    shown = Files.createDirectory(folder.resolve("shown"));
    write(shown.resolve("public.txt"), "world-readable", "rw-r--r--");
    write(shown.resolve("secret.txt"), "private content", "rw-------");
    Path secret = Files.createDirectory(shown.resolve("private"));
    write(secret.resolve("inner"), "in a closed folder", "rw-r--r--");
    mode(secret, "rwx------");
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  private static void write(Path path, String text, String mode) throws IOException {
    Files.writeString(path, text + "\n");
    mode(path, mode);
  }

  /** Runs a plan as the ordinary user and returns the answer. */
  private String asCaller(LaunchPlan plan) throws IOException, InterruptedException {
    assumeTrue(SandboxUserIds.rangesAvailable(), "not run: only root can play another user");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/newuidmap")), "not run: no newuidmap");
    try (var files = Files.walk(shown)) {
      for (Path path : files.toList()) {
        Files.setAttribute(path, "unix:uid", CALLER);
        Files.setAttribute(path, "unix:gid", CALLER);
      }
    }
    Path ranges = folder.resolve("ranges");
    write(ranges, CALLER + ":" + FIRST + ":65536", "rw-r--r--");
    String script =
        """
        mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid &&
        exec setpriv --reuid %1$d --regid %1$d --clear-groups "$2"
        """
            .formatted(CALLER);
    List<String> words = List.of("unshare", "--mount", "sh", "-c", script, "sh");
    ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(words)).redirectErrorStream(true);
    builder.command().addAll(List.of(ranges.toString(), program.toString()));
    Process process = builder.start();
    try (OutputStream in = process.getOutputStream()) {
      in.write(plan.encode());
    }
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return answer;
  }

  private LaunchPlan show(LaunchPlan plan) {
    return plan.step("stage")
        .step("bind", shown.toString(), "/shown", "ro", "deep", "public")
        .step("enter")
        .run(List.of("/bin/sh", "-c", READ));
  }

  @Test
  void privateFilesAreReadableWithoutSubordinateIds() throws Exception {
    assertThat(asCaller(show(new LaunchPlan().step("self"))))
        .contains("world-readable", "private content", "in a closed folder");
  }

  @Test
  void privateFilesAreUnreadableWithSubordinateIds() throws Exception {
    assertThat(asCaller(show(new LaunchPlan().step("self", FIRST, FIRST))))
        .startsWith("error world-readable")
        .contains("secret.txt: Permission denied", "private/*") // not even listed
        .doesNotContain("alone", "in a closed folder")
        .endsWith(" 0\n");
  }

  @Test
  void sandboxHasNoUserButRoot() throws Exception {
    LaunchPlan plan = new LaunchPlan().step("self", FIRST, FIRST).step("stage").step("enter");
    plan.run(List.of("/bin/sh", "-c", "cat /proc/self/uid_map /proc/self/gid_map; exit 1"));
    assertThat(asCaller(plan).replaceAll("\\s+", " ")).isEqualTo("error 0 0 1 0 0 1 ");
  }

  @Test
  void unassignedIdsAreRejected() throws Exception {
    assertThat(asCaller(show(new LaunchPlan().step("self", "300000", FIRST))))
        .contains("cannot map the subordinate user 300000")
        .doesNotContain("world-readable");
  }

  @Test
  void rangesAreFoundByNameOrId() {
    List<String> lines =
        List.of("# alice:1:1", "alice:x:10", "bob:100000:65536", "alice:200000:0", "1001:300000:1");
    assertThat(SubordinateIds.first(lines, "bob", "1002")).hasValue(100_000);
    assertThat(SubordinateIds.first(lines, "alice", "1001")).hasValue(300_000);
    assertThat(SubordinateIds.first(lines, "alice", "1003")).isEmpty();
    assertThat(SubordinateIds.first(List.of(), "", "")).isEmpty();
  }

  @Test
  void missingRangeIsReported() throws IOException {
    try (Launcher launcher =
        new Launcher(LauncherBinary.in(folder), folder, new InstanceId("test"))) {
      SubordinateIds none = new SubordinateIds(launcher, folder, true);
      Prerequisite line = none.prerequisite();
      assertThat(none.pair()).isEmpty();
      assertThat(line.present()).isFalse();
      assertThat(line.necessary()).isFalse();
      assertThat(line.detail()).contains("can read private files of this user in /usr, /opt");
      assertThat(line.fix()).contains("uidmap", "run Isola as root");
    }
  }
}
