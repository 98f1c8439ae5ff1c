package dev.isola.provider.bubblewrap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.EgressAccess;
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
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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
    String script = "import socket; print(socket.gethostbyname('a.example'))";
    assertThat(output(sandbox, "/usr/bin/python3 -c \"" + script + "\""))
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

  /** Clients that find the certificate authority without a flag. */
  private static Stream<Arguments> clients() {
    String java =
        """
        void main() throws Exception {
          var url = java.net.URI.create("https://secure.example/").toURL();
          System.out.print(new String(url.openStream().readAllBytes()));
        }
        """;
    return Stream.of(
        Arguments.of("curl", "curl -sS https://secure.example/"),
        Arguments.of(
            "python3",
            "/usr/bin/python3 -c 'import urllib.request as r;"
                + " print(r.urlopen(\"https://secure.example/\").read().decode(), end=\"\")'"),
        Arguments.of(
            "node",
            "node -e 'fetch(\"https://secure.example/\").then(r => r.text())"
                + ".then(t => process.stdout.write(t))'"),
        Arguments.of("git", "git ls-remote https://secure.example/r 2>&1 | grep -o 'not found'"),
        Arguments.of(
            "java",
            "cat > T.java <<'END'\n"
                + java
                + "END\n"
                + System.getProperty("java.home")
                + "/bin/java T.java 2> err || { cat err; exit 1; }"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("clients")
  void programTrustsTheCertificateAuthority(String program, String script, @TempDir Path folder)
      throws Exception {
    Assumptions.assumeTrue(
        program.equals("java") || run("command -v " + program).succeeded(),
        () -> "NOT RUN: there is no " + program);
    EgressAccess egress = sandbox.egress().orElseThrow();
    try (TlsServer server = TlsServer.start(folder, "secure.example")) {
      try (Relay _ = egress.open("", Set.of(), server::serve)) {
        assertThat(run(script).stdout().text()).isNotIn("secure\n", "not found\n"); // the control
      }
      try (Relay _ = egress.open(server.authority(), Set.of(), server::serve)) {
        String expected = program.equals("git") ? "not found\n" : "secure\n";
        assertThat(output(sandbox, script)).isEqualTo(expected);
      }
    }
  }

  private ExecResult run(String script) {
    return sandbox.run(Command.shell(script));
  }
}
