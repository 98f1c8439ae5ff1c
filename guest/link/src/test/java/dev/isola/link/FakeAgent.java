package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A fake agent: a unix socket that runs a script of raw frames on every connection. */
final class FakeAgent implements AutoCloseable {
  static final SandboxId ID = new SandboxId("fake");

  /** Handles one connection, which is closed when it returns. */
  @FunctionalInterface
  interface Script {
    void run(FakePeer peer) throws Exception;
  }

  final Secret secret = BootRecord.newSecret();
  final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final Path folder;
  private final Path path;
  private final ServerSocketChannel server;
  private final List<SocketChannel> accepted = new CopyOnWriteArrayList<>();
  private volatile Script script;
  private final AtomicInteger connections = new AtomicInteger();

  FakeAgent(Script script) throws IOException {
    this.script = script;
    folder = Files.createTempDirectory("fake");
    path = folder.resolve("agent.sock");
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(path));
    Thread.ofVirtual().name("fake-agent").start(this::accept);
  }

  /** Completes the handshake, then runs {@code script}. */
  static FakeAgent afterHandshake(Script script) throws IOException {
    return new FakeAgent(
        peer -> {
          peer.completeHandshake();
          script.run(peer);
        });
  }

  void next(Script other) {
    script =
        peer -> {
          peer.completeHandshake();
          other.run(peer);
        };
  }

  int connections() {
    return connections.get();
  }

  AgentConnector connector() {
    return new UnixSocketConnector(path);
  }

  /** Returns a connector for a script that behaves like the init of a virtual machine. */
  VirtioPortConnector port() {
    return new VirtioPortConnector(path);
  }

  AgentClient client(LinkTimeouts options) {
    return new AgentClient(ID, connector(), secret, options);
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel channel = server.accept();
        connections.incrementAndGet();
        accepted.add(channel);
        Thread.ofVirtual().name("fake-agent-connection").start(() -> serve(channel));
      }
    } catch (IOException e) {
      // Closed by the test.
    }
  }

  private void serve(SocketChannel channel) {
    try (channel) {
      script.run(new FakePeer(channel, secret));
    } catch (IOException e) {
      // The link closed the connection, which most scripts expect.
    } catch (Throwable e) {
      failures.add(e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (SocketChannel channel : accepted) {
      channel.close();
    }
    Files.deleteIfExists(path);
    Files.deleteIfExists(folder);
  }
}
