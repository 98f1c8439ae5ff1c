package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Boot ids of processes in namespaces of their own, some of which hide the kernel's file. */
@Timeout(60)
final class ContainerBootIdsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Path BOOT_ID = Path.of(Containment.BOOT_ID);
  private static final String LISTEN =
      """
      import socket, sys, time
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen()
      """;

  @TempDir Path folder;

  private ContainerBootIds bootIds;
  private Path socket;
  private String hosts;

  @BeforeEach
  void open() throws IOException {
    Assumptions.assumeTrue(ContainerBootIds.available(), "NOT RUN: namespaces need root");
    bootIds = new ContainerBootIds(folder, new InstanceId("test"));
    socket = folder.resolve("agent");
    hosts = Files.readString(BOOT_ID);
  }

  @AfterEach
  void close() throws IOException {
    bootIds.close();
    assertThat(Files.readString(BOOT_ID)).as("the host's boot id").isEqualTo(hosts);
    assertThat(Files.readString(Path.of("/proc/self/mountinfo"))).doesNotContain("boot_id");
  }

  /** A process 1 that listens on the socket, after a script has changed its mounts. */
  private final class Listener implements AutoCloseable {
    private final Process unshare;

    Listener(String script, String program) throws IOException {
      unshare =
          new ProcessBuilder(
                  "unshare",
                  "--pid",
                  "--fork",
                  "--kill-child",
                  "--mount-proc",
                  "sh",
                  "-c",
                  script + "\nexec python3 -c \"$1\" \"$2\"",
                  "sh",
                  program,
                  socket.toString())
              .inheritIO()
              .start();
      await().atMost(TIMEOUT).until(this::connects);
    }

    private boolean connects() {
      try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
        return channel.connect(UnixDomainSocketAddress.of(socket));
      } catch (IOException notYet) {
        return false;
      }
    }

    private Path inside(Path path) {
      ProcessHandle first = unshare.children().findFirst().orElseThrow();
      return Path.of("/proc", Long.toString(first.pid()), "root" + path);
    }

    String bootId() throws IOException {
      return Files.readString(inside(BOOT_ID));
    }

    List<String> mounts() throws IOException {
      Path table = inside(Path.of("/proc/1/mountinfo"));
      try (Stream<String> lines = Files.lines(table)) {
        return lines.filter(line -> line.contains("boot_id")).toList();
      }
    }

    @Override
    public void close() {
      unshare.descendants().forEach(ProcessHandle::destroyForcibly);
      unshare.destroyForcibly();
      unshare.onExit().join();
    }
  }

  private static String stays() {
    return LISTEN + "time.sleep(1000)\n";
  }

  @Test
  void containerHasItsOwnReadOnlyBootId() throws IOException {
    try (Listener container = new Listener("true", stays())) {
      assertThat(container.bootId()).isEqualTo(hosts);
      assertThat(bootIds.mount(socket, TIMEOUT)).isEmpty();
      assertThat(container.bootId())
          .isNotEqualTo(hosts)
          .matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n");
      assertThat(container.mounts())
          .singleElement()
          .asString()
          .contains(" /boot_id " + BOOT_ID + " ro,nosuid,nodev,noexec");
    }
  }

  @Test
  void processOfTheHostIsRefused() throws IOException {
    try (ServerSocketChannel own = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      own.bind(UnixDomainSocketAddress.of(socket));
      assertThat(bootIds.mount(socket, TIMEOUT))
          .contains("the agent is not in a container that is accessible here");
    }
  }

  @Test
  void anotherFileSystemInPlaceOfProcfsIsRefused() throws IOException {
    String script =
        "mount -t tmpfs none /proc/sys/kernel/random && echo x > /proc/sys/kernel/random/boot_id";
    try (Listener container = new Listener(script, stays())) {
      assertThat(bootIds.mount(socket, TIMEOUT).orElseThrow()).contains("is not the kernel's");
      assertThat(container.bootId()).isEqualTo("x\n");
    }
  }

  @Test
  void missingFileIsRefused() throws IOException {
    try (Listener container = new Listener("mount -t tmpfs none /proc/sys/kernel", stays())) {
      assertThat(bootIds.mount(socket, TIMEOUT).orElseThrow()).contains("has no " + BOOT_ID);
      assertThat(container.mounts()).isEmpty();
    }
  }

  @Test
  void symbolicLinkIsNotFollowed() throws IOException {
    Path target = Files.writeString(folder.resolve("target"), "kept");
    String script =
        "mount -t tmpfs none /proc/sys/kernel/random && ln -s "
            + target
            + " /proc/sys/kernel/random/boot_id";
    try (Listener container = new Listener(script, stays())) {
      assertThatThrownBy(() -> bootIds.mount(socket, TIMEOUT))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot open " + BOOT_ID);
      assertThat(container.mounts()).isEmpty();
      assertThat(target).hasContent("kept");
    }
  }

  @Test
  void endedListenerIsAnError() throws IOException {
    // Its child keeps the socket open; process 1 reaps it, so that its pid can be reused.
    String program =
        "import os, time\nif os.fork() > 0:\n  os.wait()\n  time.sleep(1000)\n"
            + LISTEN
            + "if os.fork() > 0: os._exit(0)\ntime.sleep(1000)\n";
    try (Listener container = new Listener("true", program)) {
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> bootIds.mount(socket, TIMEOUT))
                      .isInstanceOf(IOException.class)
                      .hasMessageContaining("cannot open the agent's process"));
      assertThat(container.mounts()).isEmpty();
    }
  }

  /** Executes the plan by a launcher that another program starts. */
  private String answerWith(String... wrapper) throws IOException {
    List<String> command = new ArrayList<>(List.of(wrapper));
    command.add(LauncherBinary.install(folder).toString());
    Process launcher = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (OutputStream plan = launcher.getOutputStream()) {
      plan.write(new LaunchPlan().step("boot-id", socket.toString()).encode());
    }
    return new String(launcher.getInputStream().readAllBytes(), UTF_8).strip();
  }

  @Test
  void processOutsideTheLaunchersPidNamespaceIsRefused() throws IOException {
    try (Listener container = new Listener("true", stays())) {
      assertThat(answerWith("unshare", "--pid", "--fork", "--mount-proc"))
          .isEqualTo("refused the agent is in a pid namespace that is not visible here");
      assertThat(container.bootId()).isEqualTo(hosts);
    }
  }

  @Test
  void launcherWithoutPrivilegesIsRefused() throws IOException {
    try (Listener container = new Listener("true", stays())) {
      assertThat(answerWith("unshare", "--user", "--map-root-user"))
          .isEqualTo("refused the agent is not in a container that is accessible here");
      assertThat(answerWith("setpriv", "--bounding-set", "-sys_admin"))
          .isEqualTo("refused cannot write a boot id: Operation not permitted");
      assertThat(container.bootId()).isEqualTo(hosts);
    }
  }

  @Test
  void containerIsFoundByItsAgentsProcess() throws IOException {
    try (Listener container = new Listener("true", stays())) {
      long pid = container.unshare.children().findFirst().orElseThrow().pid();
      long start = AgentProcess.startTimeOf(pid).orElseThrow();
      assertThatThrownBy(() -> bootIds.mount(new AgentProcess(pid, start - 1, true), TIMEOUT))
          .as("a process that has the pid of another one")
          .isInstanceOf(IOException.class)
          .hasMessageContaining("the agent has ended");
      assertThat(container.bootId()).isEqualTo(hosts);
      AgentProcess agent = new AgentProcess(pid, start, true);
      assertThat(bootIds.mount(agent, TIMEOUT)).isEmpty();
      String own = container.bootId();
      assertThat(own).isNotEqualTo(hosts);
      assertThat(bootIds.mount(agent, TIMEOUT)).as("a second mount").isPresent();
      assertThat(container.bootId()).isEqualTo(own);
    }
  }

  @Test
  void missingSocketIsAnError() {
    assertThatThrownBy(() -> bootIds.mount(socket, TIMEOUT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot connect to " + socket);
  }
}
