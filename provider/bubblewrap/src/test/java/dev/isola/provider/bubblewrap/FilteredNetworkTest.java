package dev.isola.provider.bubblewrap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.Relay;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Programs of the host's image in a sandbox whose connections are passed to this process. */
final class FilteredNetworkTest extends ForkTestBase {
  private Sandbox sandbox;
  private final Queue<String> seen = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void create() {
    sandbox =
        provider.create(
            SandboxSpec.builder(SandboxId.random(new SecureRandom()))
                .network(Network.filtered(Egress.NONE))
                .build());
  }

  @AfterEach
  void destroy() {
    provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    assertThat(leaks.leakedSince(before)).isEmpty();
  }

  private Relay openRelay() {
    return sandbox.egress().orElseThrow().open("", Set.of(), this::answer);
  }

  /** Answers like an HTTP server with the host and port that it was asked for. */
  private void answer(OutboundConnection connection) {
    seen.add(connection.host() + ":" + connection.port());
    try {
      ByteBuffer request = ByteBuffer.allocate(4096);
      while (!new String(request.array(), 0, request.position(), UTF_8).contains("\r\n\r\n")) {
        if (connection.read(request) < 0) {
          break;
        }
      }
      String body = connection.host() + ":" + connection.port() + "\n";
      String response =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + body.length() + "\r\n\r\n";
      connection.write(ByteBuffer.wrap((response + body).getBytes(UTF_8)));
      connection.shutdownOutput();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void curlReachesANameOnAnyPort() {
    try (Relay relay = openRelay()) {
      assertThat(relay.servesEveryPort()).isTrue();
      assertThat(output(sandbox, "curl -sS http://Example.COM/ http://example.org:8080/"))
          .isEqualTo("example.com:80\nexample.org:8080\n");
      assertThat(output(sandbox, "curl -sS http://192.0.2.7:443/")).isEqualTo("192.0.2.7:443\n");
      assertThat(output(sandbox, "curl -sS http://169.254.169.254/"))
          .isEqualTo("169.254.169.254:80\n");
    }
  }

  @Test
  void libraryResolvesNames() {
    String script = "import socket; print(socket.gethostbyname('%s'))";
    assertThat(output(sandbox, "/usr/bin/python3 -c \"" + script.formatted("a.example") + "\""))
        .matches("198\\.18\\.\\d+\\.\\d+\n");
    assertThat(output(sandbox, "cat /etc/resolv.conf")).isEqualTo("nameserver 198.18.0.1\n");
  }

  @Test
  void nothingIsReachedWithoutARelay() {
    assertThat(run("curl -sS --max-time 5 http://example.com/").succeeded()).isFalse();
    openRelay().close();
    assertThat(run("curl -sS --max-time 5 http://example.com/").succeeded()).isFalse();
    assertThat(seen).isEmpty();
  }

  @Test
  void rootHasNoCapabilityOverTheNetwork() {
    String status = output(sandbox, "grep -h ^Cap /proc/self/status");
    status
        .lines()
        .map(line -> Long.parseUnsignedLong(line.substring(line.indexOf('\t') + 1), 16))
        .forEach(set -> assertThat(set & 1L << 12).isZero());
    assertThat(status.lines()).hasSize(5);
  }

  private ExecResult run(String script) {
    return sandbox.run(Command.shell(script));
  }
}
