package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.PortRange;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Second audit, finding 16: the traffic of a filtered sandbox is that of the connections which
 * Isola makes.
 */
class FilteredUsageTest {
  private static final int SENT = 1000;
  private static final int RECEIVED = 300_000;
  private static final SecureRandom RANDOM = new SecureRandom();

  @TempDir Path folder;

  @Test
  void usageCountsTheBytesOfConnectionsToHosts() throws Exception {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (NameServer names = NameServer.start();
        ServerSocket host = new ServerSocket(0, 1, loopback);
        EngineFixture fixture = fixture(names)) {
      assumeTrue(
          fixture
              .registry
              .get("bubblewrap")
              .info()
              .support()
              .networkModes()
              .contains(NetworkMode.FILTERED),
          "NOT RUN: bubblewrap does not filter networks here");
      Thread.ofVirtual().start(() -> answer(host));
      Sandbox sandbox = create(fixture, host.getLocalPort());
      try {
        assertThat(usage(fixture, sandbox).receivedBytes()).hasValue(0);
        assertThat(talk(sandbox, host.getLocalPort())).isEqualTo(Integer.toString(RECEIVED));
        await()
            .untilAsserted(
                () ->
                    assertThat(usage(fixture, sandbox))
                        .extracting(Usage::sentBytes, Usage::receivedBytes)
                        .containsExactly(OptionalLong.of(SENT), OptionalLong.of(RECEIVED)));
      } finally {
        fixture.engine.sandboxes().destroy(sandbox.id(), DestroyOptions.FORCE);
      }
    }
  }

  /** Sends to the host from the sandbox, and returns how many bytes the host answered. */
  private static String talk(Sandbox sandbox, int port) {
    String script =
        "exec 3<>/dev/tcp/files.example/%d; head -c %d /dev/zero >&3; wc -c <&3"
            .formatted(port, SENT);
    return sandbox.run(Command.argv("bash", "-c", script)).stdout().text().strip();
  }

  private EngineFixture fixture(NameServer names) throws IOException {
    String settings =
        "egress:\n  dns: [\"127.0.0.1:%d\"]\n  allow_addresses: [\"127.0.0.1\"]\n"
            .formatted(names.port());
    return new EngineFixture(folder, settings, new BubblewrapProviderFactory());
  }

  private static Sandbox create(EngineFixture fixture, int port) {
    Egress egress =
        new Egress(
            Optional.empty(),
            List.of(
                new EgressRule(
                    EgressAction.ALLOW, "files.example", List.of(PortRange.of(port)), List.of())),
            List.of(),
            Map.of(),
            List.of(),
            false,
            Egress.Limits.NONE);
    SandboxSpec spec =
        SandboxSpec.builder(SandboxId.random(RANDOM)).network(Network.filtered(egress)).build();
    return fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, "bubblewrap")))
        .sandbox();
  }

  private static Usage usage(EngineFixture fixture, Sandbox sandbox) {
    return fixture.engine.sandboxes().status(sandbox.id()).usage().orElseThrow();
  }

  private static void answer(ServerSocket host) {
    try (Socket client = host.accept()) {
      byte[] request = client.getInputStream().readNBytes(SENT);
      assertThat(request).hasSize(SENT);
      client.getOutputStream().write(new byte[RECEIVED]);
    } catch (IOException e) {
      // The command fails.
    }
  }

  /** A name server for which every name has the address of the loopback interface. */
  private record NameServer(DatagramChannel channel) implements AutoCloseable {
    private static final short TYPE_A = 1;

    static NameServer start() throws IOException {
      DatagramChannel channel = DatagramChannel.open();
      channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      NameServer server = new NameServer(channel);
      Thread.ofVirtual().start(server::serve);
      return server;
    }

    int port() {
      return channel.socket().getLocalPort();
    }

    private void serve() {
      try {
        while (true) {
          ByteBuffer query = ByteBuffer.allocate(512);
          var client = channel.receive(query);
          channel.send(answer(query.flip()), client);
        }
      } catch (IOException e) {
        // the test has ended
      }
    }

    /** Returns the query as a response, with one record if it asks for an IPv4 address. */
    private static ByteBuffer answer(ByteBuffer query) {
      short type = query.getShort(query.limit() - 2 * Short.BYTES);
      ByteBuffer answer = ByteBuffer.allocate(512).put(query);
      answer.putShort(2, (short) 0x8180).putShort(6, (short) (type == TYPE_A ? 1 : 0));
      if (type == TYPE_A) {
        answer.putShort((short) 0xc00c).putShort(TYPE_A).putShort((short) 1).putInt(0);
        answer.putShort((short) 4).put(InetAddress.getLoopbackAddress().getAddress());
      }
      return answer.flip();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
