package dev.isola.app.instance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes are attributed by what a guest process cannot change. */
@Timeout(120)
class InstanceProcessesTest {
  private static final InstanceId OWN = new InstanceId("testowninstallation1");
  private static final InstanceId VICTIM = new InstanceId("testvictim1");

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() throws InterruptedException {
    for (Process one : started) {
      List<ProcessHandle> tree = one.descendants().toList();
      one.destroyForcibly().waitFor();
      tree.forEach(ProcessHandle::destroyForcibly);
    }
  }

  /**
   * Starts a process with the marks of a sandbox of {@link #OWN}, like the program of a sandbox.
   */
  private Process start(String... command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("ISOLA_INSTANCE", OWN.value());
    builder.environment().put("ISOLA_SANDBOX", "own1");
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private Path instanceFile(InstanceId id) throws IOException {
    Path data = Files.createDirectories(folder.resolve(id.value()));
    return Files.writeString(data.resolve(InstanceClaim.FILE), id + "\n");
  }

  private static List<InstanceProcesses.OfSandbox> of(InstanceId instance) {
    return InstanceProcesses.read().ofSandboxes().stream()
        .filter(one -> one.instance().equals(instance))
        .toList();
  }

  @Test
  void guestProcessThatPretendsBelongsToItsOwnInstallation() throws Exception {
    Assumptions.assumeTrue(
        Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    Path claim = instanceFile(VICTIM);
    // It pretends on its command line and by a descriptor, and has no environment.
    Path script =
        Files.writeString(
            folder.resolve("script"),
            "exec 9<'%s'; sh -c 'sleep 600; :' agent --instance %s --sandbox forged1\n"
                .formatted(claim, VICTIM));
    Process sandbox =
        start(
            "bwrap",
            "--unshare-pid",
            "--dev-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--clearenv",
            "/bin/sh",
            script.toString());
    await()
        .until(
            () ->
                sandbox
                    .descendants()
                    .anyMatch(
                        one ->
                            InstanceClaim.of(Path.of("/proc", Long.toString(one.pid())))
                                .contains(VICTIM)));
    assertThat(of(VICTIM)).isEmpty();
    assertThat(of(OWN))
        .anyMatch(one -> one.process().pid() == sandbox.pid())
        .allMatch(one -> one.sandbox().value().equals("own1"));
    assertThat(InstanceProcesses.read().users(VICTIM)).isEmpty();
  }

  @Test
  void processWithTheIdOfAnotherThatBeginsAlikeIsNotFound() throws Exception {
    Process longer =
        start("sh", "-c", "sleep 600; :", "x", "--instance", "testlonger1", "--sandbox", "abcdef");
    await().until(() -> !of(new InstanceId("testlonger1")).isEmpty());
    assertThat(of(new InstanceId("testlonger"))).isEmpty();
    assertThat(AgentProcess.findByCommandLine("testlonger1", "abc")).isEmpty();
    assertThat(AgentProcess.findByCommandLine("testlonger1", "abcdef"))
        .anyMatch(one -> one.pid() == longer.pid());
  }

  @Test
  void claimIsFoundByItsContentAlsoWhenTheFileWasRemoved() throws Exception {
    Path claim = instanceFile(VICTIM);
    ProcessBuilder server = new ProcessBuilder("sleep", "600").redirectInput(claim.toFile());
    Process process = server.start();
    started.add(process);
    await().until(() -> InstanceProcesses.read().users(VICTIM).contains(process.pid()));
    Files.delete(claim);
    assertThat(InstanceProcesses.read().users(VICTIM)).containsExactly(process.pid());
    assertThat(InstanceProcesses.read().users(OWN)).isEmpty();
    process.destroyForcibly().waitFor();
    assertThat(InstanceProcesses.read().users(VICTIM)).isEmpty();
  }

  @Test
  void pipeOrLongFileWithTheNameOfAClaimIsNotRead() throws Exception {
    Path data = Files.createDirectories(folder.resolve("pipe"));
    assertThat(new ProcessBuilder("mkfifo", data.resolve("instance").toString()).start().waitFor())
        .isZero();
    Process waiting = start("sh", "-c", "exec 8<>'" + data.resolve("instance") + "'; sleep 600; :");
    Path large = Files.createDirectories(folder.resolve("large")).resolve("instance");
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength(1L << 40);
    }
    ProcessBuilder other = new ProcessBuilder("sleep", "600").redirectInput(large.toFile());
    started.add(other.start());
    await()
        .until(
            () -> {
              try (Stream<Path> open = Files.list(Path.of("/proc/" + waiting.pid() + "/fd"))) {
                return open.anyMatch(one -> one.endsWith("8"));
              }
            });
    assertThat(InstanceProcesses.read().users(VICTIM)).isEmpty();
  }
}
