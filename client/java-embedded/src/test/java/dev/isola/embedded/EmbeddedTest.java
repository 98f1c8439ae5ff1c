package dev.isola.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.client.embedded.EmbeddedEngine;
import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.client.error.Unauthenticated;
import dev.isola.client.error.Unsupported;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Embedded mode with the subprocess provider, which every machine has. */
@Timeout(120)
class EmbeddedTest {
  private static final EmbeddedOptions SUBPROCESS =
      EmbeddedOptions.DEFAULT.withProviders("subprocess");

  private static List<Long> children() {
    return ProcessHandle.current().descendants().map(ProcessHandle::pid).toList();
  }

  @Test
  void runsWithoutServerAndKey() {
    try (Isola isola = Isola.embedded(SUBPROCESS);
        Sandbox sandbox = isola.create()) {
      assertThat(sandbox.exec("echo $((6 * 7))").stdout()).isEqualTo("42\n");
    }
  }

  @Test
  void closeLeavesNothing(@TempDir Path parent) throws IOException {
    Path folder = Files.createDirectory(parent.resolve("data"));
    String id;
    try (ServerEngine engine = ServerEngine.start(SUBPROCESS, () -> folder);
        Isola isola = Isola.connect(engine.url(), engine.key())) {
      assertThat(folder).isNotEmptyDirectory();
      try (Sandbox sandbox = isola.create()) {
        assertThat(sandbox.exec("echo $((6 * 7))").stdout()).isEqualTo("42\n");
      }
      // A sandbox with a process, whose handle is not closed.
      Sandbox left = isola.create();
      id = left.id();
      left.exec("sleep 300 >/dev/null 2>&1 & echo started");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
      assertThat(processesNaming(id)).isNotEmpty();
    }
    assertThat(folder).doesNotExist();
    // A process that was killed is a child until Java has noticed its end.
    await().untilAsserted(() -> assertThat(children()).isEmpty());
    assertThat(processesNaming(id)).isEmpty();
  }

  /** Returns the processes of the machine whose environment or command line names a sandbox. */
  private static List<String> processesNaming(String id) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.filter(path -> path.getFileName().toString().matches("\\d+"))
          .filter(path -> names(path, "environ", id) || names(path, "cmdline", id))
          .map(Path::toString)
          .toList();
    }
  }

  private static boolean names(Path process, String file, String id) {
    try {
      return Files.readString(process.resolve(file), java.nio.charset.StandardCharsets.ISO_8859_1)
          .contains(id);
    } catch (IOException e) {
      return false; // ended, or of another user
    }
  }

  @Test
  void twoEnginesDoNotSeeEachOther() {
    try (Isola one = Isola.embedded(SUBPROCESS);
        Sandbox sandbox = one.create()) {
      try (Isola two = Isola.embedded(SUBPROCESS)) {
        assertThat(two.list(SandboxFilter.ALL)).isEmpty();
      }
      assertThat(sandbox.exec("echo alive").stdout()).isEqualTo("alive\n");
    }
  }

  @Test
  void listensOnTheLoopbackInterfaceOnlyAndRequiresItsKey() throws IOException {
    EmbeddedEngine engine = new ServerEngineFactory().start(SUBPROCESS);
    try (engine) {
      URI url = URI.create(engine.url());
      assertThat(InetAddress.getByName(url.getHost()).isLoopbackAddress()).isTrue();
      try (Isola stranger = Isola.connect(engine.url(), "isk_0123456789abcdef")) {
        assertThatThrownBy(() -> stranger.list(SandboxFilter.ALL))
            .isInstanceOf(Unauthenticated.class);
      }
      List<InetAddress> others =
          NetworkInterface.networkInterfaces()
              .flatMap(NetworkInterface::inetAddresses)
              .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
              .toList();
      for (InetAddress address : others) {
        assertThatThrownBy(
                () -> {
                  try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(address, url.getPort()), 2000);
                  }
                })
            .isInstanceOf(ConnectException.class);
      }
    }
    try (Isola late = Isola.connect(engine.url(), engine.key())) {
      assertThatThrownBy(() -> late.list(SandboxFilter.ALL)).isInstanceOf(IsolaException.class);
    }
  }

  @Test
  void keyIsNotStored(@TempDir Path folder) throws IOException {
    EmbeddedEngine engine = new ServerEngineFactory().start(SUBPROCESS.withFolder(folder));
    try (engine;
        Isola isola = Isola.connect(engine.url(), engine.key())) {
      isola.create().close();
    }
    String secret = engine.key();
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(files.filter(Files::isRegularFile))
          .isNotEmpty()
          .allSatisfy(
              file ->
                  assertThat(
                          new String(
                              Files.readAllBytes(file),
                              java.nio.charset.StandardCharsets.ISO_8859_1))
                      .doesNotContain(secret));
    }
  }

  @Test
  void givenFolderKeepsItsState(@TempDir Path folder) {
    EmbeddedOptions options = SUBPROCESS.withFolder(folder.resolve("state"));
    String snapshot;
    try (Isola isola = Isola.embedded(options);
        Sandbox sandbox = isola.create()) {
      sandbox.files().write("kept.txt", "kept");
      snapshot = sandbox.snapshot().id();
      assertThatThrownBy(() -> Isola.embedded(options)).isInstanceOf(IsolaException.class);
    }
    try (Isola isola = Isola.embedded(options);
        Sandbox restored = isola.snapshots().restore(snapshot)) {
      assertThat(restored.exec("cat kept.txt").stdout()).isEqualTo("kept");
    }
  }

  /** Whether this machine has an isolated provider decides which of the two happens. */
  @Test
  void unisolatedProviderIsUsedOnlyByName() {
    try (Isola isola = Isola.embedded()) {
      try (Sandbox sandbox = isola.create()) {
        assertThat(sandbox.info().isolation()).isNotEqualTo("process");
      } catch (ProviderUnavailable | Unsupported e) {
        assertThat(e.remedy()).isNotEmpty();
      }
      try (Sandbox named = isola.create(SandboxSpec.builder().provider("subprocess").build())) {
        assertThat(named.info().isolation()).isEqualTo("process");
      }
    }
  }

  @Test
  void wrongOptionsNameTheirRemedyAndLeaveNothing(@TempDir Path parent) throws IOException {
    Path folder = Files.createDirectory(parent.resolve("data"));
    assertThatThrownBy(() -> ServerEngine.start(SUBPROCESS.with("flor", "vm"), () -> folder))
        .hasMessageContaining("floor");
    assertThat(folder).doesNotExist();
    assertThat(
            catchThrowableOfType(
                InvalidRequest.class,
                () -> Isola.embedded(EmbeddedOptions.DEFAULT.withProviders("subproces"))))
        .hasMessageContaining("subprocess");
    assertThat(
            catchThrowableOfType(
                InvalidRequest.class,
                () -> Isola.embedded(SUBPROCESS.with("server.host", "0.0.0.0"))))
        .hasMessageContaining("determined by embedded mode");
  }
}
