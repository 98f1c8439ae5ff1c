package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher process answers concurrent clients, is restarted on demand, and exits. */
final class LauncherTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long UNUSED_PID = 1L << 30; // higher than any pid

  @TempDir Path folder;

  private Launcher launcher;

  @BeforeEach
  void open() {
    launcher = new Launcher(LauncherBinary.in(folder), folder, new InstanceId("test"));
  }

  @AfterEach
  void close() {
    launcher.close();
  }

  private static byte[] complaint(String words) {
    return new LaunchPlan().run(List.of("/bin/sh", "-c", words)).encode();
  }

  private List<Path> sockets() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().startsWith("launch-")).toList();
    }
  }

  private static List<ProcessHandle> standing() {
    return ProcessHandle.current()
        .children()
        .filter(child -> child.info().arguments().map(List::of).orElse(List.of()).contains("serve"))
        .toList();
  }

  @Test
  void concurrentPlansGetTheirOwnAnswers() throws IOException {
    try (Launcher.Session first = launcher.open();
        Launcher.Session second = launcher.open()) {
      assertThat(second.execute(complaint("echo two >&2; exit 1"), TIMEOUT)).isEqualTo("error two");
      assertThat(first.execute(complaint("echo one >&2; exit 1"), TIMEOUT)).isEqualTo("error one");
    }
    assertThat(launcher.execute(new LaunchPlan().step("dance").encode(), TIMEOUT))
        .isEqualTo("error the plan has an unknown step: dance");
    assertThat(standing()).hasSize(1);
  }

  /** chroot is in a folder that execvp does not search without a PATH. */
  @Test
  void programsAreFoundWhereTheServerFindsThem() throws IOException {
    if (HostProgram.find("chroot").isEmpty()) {
      Assumptions.abort("NOT RUN: there is no chroot");
    }
    byte[] plan = new LaunchPlan().step("call", "chroot", "--version").encode();
    assertThat(launcher.execute(plan, TIMEOUT)).isEqualTo("done");
  }

  @Test
  void timedOutPlanIsCancelled() throws IOException {
    Path mark = folder.resolve("mark");
    byte[] plan = complaint("echo $$ > " + mark + "; exec sleep 100");
    assertThatThrownBy(() -> launcher.execute(plan, Duration.ofMillis(500)))
        .isInstanceOf(SocketTimeoutException.class);
    await().until(() -> Files.exists(mark) && Files.size(mark) > 0);
    Path process = Path.of("/proc", Files.readString(mark).strip(), "cmdline");
    await().until(() -> !Files.exists(process) || Files.readString(process).isEmpty());
    assertThat(launcher.execute(complaint("echo next >&2"), TIMEOUT)).isEqualTo("error next");
  }

  @Test
  void killedLauncherIsRestarted() throws IOException {
    assertThat(launcher.execute(complaint("echo one >&2"), TIMEOUT)).isEqualTo("error one");
    ProcessHandle before = standing().getFirst();
    before.destroyForcibly();
    before.onExit().join();
    assertThat(launcher.execute(complaint("echo two >&2"), TIMEOUT)).isEqualTo("error two");
    assertThat(standing()).hasSize(1);
  }

  @Test
  void closedLauncherRemovesItsSocketAndRestartsOnDemand() throws IOException {
    Files.createFile(Files.createDirectories(folder).resolve("launch-" + UNUSED_PID + "-1"));
    launcher.execute(complaint("echo one >&2"), TIMEOUT);
    assertThat(sockets()).hasSize(1);
    launcher.close();
    assertThat(standing()).isEmpty();
    assertThat(sockets()).isEmpty();
    assertThat(launcher.execute(complaint("echo two >&2"), TIMEOUT)).isEqualTo("error two");
  }

  @Test
  void truncatedPlanIsRejected() throws IOException {
    byte[] whole = new LaunchPlan().step("score", "0").step("dance").encode();
    byte[] cut = java.util.Arrays.copyOf(whole, whole.length - 10);
    assertThat(launcher.execute(cut, TIMEOUT)).contains("the plan is truncated");
  }
}
