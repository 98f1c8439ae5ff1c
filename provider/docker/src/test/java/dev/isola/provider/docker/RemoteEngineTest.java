package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.http.HttpRequest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.host.launch.HostProgram;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * An engine behind TCP, which cannot access this host's folders: the agent is copied into the
 * container and reached through the engine.
 */
@Timeout(120)
@ExtendWith(SharedEngine.class)
class RemoteEngineTest {
  /** A local port that forwards to the engine's socket. */
  private record Relay(ServerSocketChannel server, Path socket) implements AutoCloseable {
    static Relay to(String host) throws IOException {
      ServerSocketChannel server = ServerSocketChannel.open();
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Relay relay = new Relay(server, Path.of(host.substring("unix://".length())));
      Thread.startVirtualThread(relay::accept);
      return relay;
    }

    private void accept() {
      try {
        while (true) {
          SocketChannel from = server.accept();
          SocketChannel to = SocketChannel.open(StandardProtocolFamily.UNIX);
          to.connect(UnixDomainSocketAddress.of(socket));
          Thread.startVirtualThread(() -> copy(from, to));
          Thread.startVirtualThread(() -> copy(to, from));
        }
      } catch (IOException closed) {
        // The test has ended.
      }
    }

    private static void copy(SocketChannel from, SocketChannel to) {
      ByteBuffer buffer = ByteBuffer.allocate(64 * 1024);
      try {
        while (from.read(buffer) >= 0) {
          buffer.flip();
          while (buffer.hasRemaining()) {
            to.write(buffer);
          }
          buffer.clear();
        }
        to.shutdownOutput();
      } catch (IOException closed) {
        try {
          from.close();
          to.close();
        } catch (IOException ignored) {
          // Expected when the connection closes.
        }
      }
    }

    String host() throws IOException {
      return "tcp://127.0.0.1:" + ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  /**
   * Creates an image that contains one static program under each of these names, and nothing else.
   */
  private static String image(String tag, String... names) throws IOException {
    Optional<HostProgram> busybox = HostProgram.find("busybox");
    if (busybox.isEmpty()) {
      Assumptions.abort("NOT RUN: busybox is not installed");
    }
    TarArchive archive = new TarArchive();
    for (String name : names) {
      archive.program(name, Files.readAllBytes(busybox.get().path()));
    }
    try (EngineApi engine = SharedEngine.client()) {
      engine.requireSuccess(
          engine
              .http()
              .send(
                  new HttpRequest(
                      "POST",
                      "/images/create?fromSrc=-&repo=isola-test&tag=" + tag,
                      Optional.of(HttpRequest.bytes("application/x-tar", archive.toBytes()))),
                  EngineApi.shortDeadline()),
          "importing");
    }
    return "isola-test:" + tag;
  }

  private static Provider provider(TemporaryFolder data, Map<String, String> settings) {
    return new DockerProviderFactory()
        .create(
            new ProviderConfig(settings),
            new ProviderContext(new InstanceId("remote"), data.path(), InstantSource.system()));
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5));
  }

  @Test
  void remoteSandboxBehavesLikeALocalOne() throws IOException {
    String image = image("remote", "bin/sh", "bin/cat", "bin/wc", "bin/sleep");
    try (Relay relay = Relay.to(SharedEngine.host());
        TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(data, Map.of("host", relay.host(), "image", image))) {
      assertThat(provider.health().healthy()).isTrue();
      Sandbox sandbox = provider.create(spec().build());
      assertThat(sandbox.run(Command.shell("echo hello")).stdout().text()).isEqualTo("hello\n");
      String large = "x".repeat(3_000_000);
      sandbox.files().writeText("large", large, UTF_8);
      assertThat(sandbox.files().readText("large", UTF_8, 4_000_000)).isEqualTo(large);
      try (Provider another = provider(data, Map.of("host", relay.host(), "image", image))) {
        Sandbox again = another.attach(sandbox.id()).orElseThrow();
        assertThat(again.run(Command.shell("wc -c < large")).stdout().text()).contains("3000000");
        assertThat(sandbox.run(Command.shell("echo still")).stdout().text()).isEqualTo("still\n");
      }
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      assertThatThrownBy(() -> sandbox.run(Command.argv("sh"))).isInstanceOf(Gone.class);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void hostRootAndFoldersAreRefused() throws IOException {
    try (Relay relay = Relay.to(SharedEngine.host());
        TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(data, Map.of("host", relay.host()))) {
      assertThatThrownBy(() -> provider.create(spec().build()))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("cannot access this host's root");
      assertThatThrownBy(() -> provider.create(spec().workspacePath(data.path()).build()))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("workspacePath");
    }
  }

  @Test
  void imageWithoutShellRunsItsProgram() throws IOException {
    String image = image("bare", "echo");
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(data, Map.of("host", SharedEngine.host(), "pull", "never"))) {
      Sandbox sandbox = provider.create(spec().image(image).build());
      assertThat(sandbox.run(Command.argv("/echo", "bare", "words")).stdout().text())
          .isEqualTo("bare words\n");
      assertThatThrownBy(() -> sandbox.run(Command.shell("echo")))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> assertThat(e.code()).isEqualTo(dev.isola.spi.error.ErrorCode.COMMAND_NOT_FOUND));
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
  }
}
