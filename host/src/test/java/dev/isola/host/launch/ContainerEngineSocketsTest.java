package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Violation;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Creates sockets in the test's folder and tries every way to mount one. */
class ContainerEngineSocketsTest {
  @TempDir private Path folder;

  @SuppressWarnings("NullAway.Init")
  private Path socket;

  @BeforeEach
  void createSocket() throws IOException {
    socket = Files.createDirectories(folder.resolve("run/engine")).resolve("docker.sock");
    listen(socket);
    Files.createDirectories(folder.resolve("elsewhere"));
  }

  private static void listen(Path path) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(path)); // the file remains
    }
  }

  private ContainerEngineSockets nothing() {
    return ContainerEngineSockets.of(Map.of(), folder.resolve("home"));
  }

  private static List<Violation> violations(ContainerEngineSockets sockets, Path source) {
    return sockets.violations(
        SandboxSpec.builder(new SandboxId("abc"))
            .volume(VolumeMount.bind(source.toString(), "/given", true))
            .build());
  }

  @Test
  void socketAndItsParentFoldersAreRejected() {
    ContainerEngineSockets sockets = nothing().with(socket);
    for (Path source = socket; source != null; source = source.getParent()) {
      assertThat(violations(sockets, source))
          .as("%s", source)
          .singleElement()
          .satisfies(
              wrong -> {
                assertThat(wrong.field()).isEqualTo("volumes");
                assertThat(wrong.problem()).contains("docker.sock", "root on the host");
              });
    }
    assertThat(violations(sockets, folder.resolve("elsewhere"))).isEmpty();
  }

  @Test
  void aliasesOfTheSocketAreRejected() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("run"));
    Path toSocket = Files.createSymbolicLink(folder.resolve("to-socket"), socket);
    Path twin = Files.createLink(folder.resolve("twin"), socket);
    for (Path source : List.of(link, toSocket, twin, link.resolve("engine"))) {
      assertThat(violations(nothing().with(socket), source)).as("%s", source).hasSize(1);
      assertThat(violations(nothing().with(toSocket), source))
          .as("%s, by a link", source)
          .hasSize(1);
      assertThat(violations(nothing(), source)).as("%s, and no engine", source).isEmpty();
    }
  }

  @Test
  void configuredSocketCountsBeforeItExists() {
    Path later = folder.resolve("run/later/docker.sock");
    assertThat(violations(nothing().with(later), folder.resolve("run"))).hasSize(1);
    assertThat(violations(nothing().with(later), folder.resolve("elsewhere"))).isEmpty();
  }

  @Test
  void wellKnownSocketsCountOnlyIfTheyExist() throws IOException {
    Path home = Files.createDirectories(folder.resolve("home"));
    Path run = folder.resolve("session");
    Path session = Files.createDirectories(run.resolve("podman"));
    ContainerEngineSockets sockets =
        ContainerEngineSockets.of(Map.of("XDG_RUNTIME_DIR", run.toString()), home);
    assertThat(violations(sockets, home)).isEmpty();
    assertThat(violations(sockets, session)).isEmpty();
    listen(Files.createDirectories(home.resolve(".docker/run")).resolve("docker.sock"));
    listen(session.resolve("podman.sock"));
    assertThat(violations(sockets, home)).hasSize(1);
    assertThat(violations(sockets, session)).hasSize(1);
  }

  @Test
  void socketsFromTheEnvironmentCount() {
    ContainerEngineSockets sockets =
        ContainerEngineSockets.of(
            Map.of("CONTAINER_HOST", "unix://" + socket), folder.resolve("home"));
    assertThat(violations(sockets, folder.resolve("run"))).hasSize(1);
    assertThat(
            violations(
                ContainerEngineSockets.of(Map.of("DOCKER_HOST", "tcp://10.0.0.1:1"), folder),
                folder.resolve("run")))
        .isEmpty();
  }

  @Test
  void workspacePathIsChecked() {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("abc")).workspacePath(folder.resolve("run")).build();
    assertThat(nothing().with(socket).violations(spec))
        .singleElement()
        .extracting(Violation::field)
        .isEqualTo("workspacePath");
    assertThat(nothing().violations(spec)).isEmpty();
  }
}
