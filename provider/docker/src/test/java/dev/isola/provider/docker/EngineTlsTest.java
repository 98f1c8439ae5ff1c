package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.time.Deadline;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.host.launch.HostProgram;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines with TLS: both sides authenticate, or the connection fails. */
@Timeout(60)
class EngineTlsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final String MAKE =
      """
      set -e
      authority() {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
          -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"
      }
      sign() { # name, authority, extension
        printf '%s\\n' "$3" >"$1.ext"
        openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 2 \
          -extfile "$1.ext" -out "$1/cert.pem"
        cp "$2.pem" "$1/ca.pem"
      }
      authority ours
      authority others
      mkdir server client older stranger
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server \
        -keyout server/key.pem -out server.csr
      sign server ours subjectAltName=IP:127.0.0.1
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=client \
        -keyout client/key.pem -out client.csr
      sign client ours extendedKeyUsage=clientAuth
      openssl genrsa -traditional -out older/key.pem 2048
      openssl req -new -key older/key.pem -subj /CN=older -out older.csr
      sign older ours extendedKeyUsage=clientAuth
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=stranger \
        -keyout stranger/key.pem -out stranger.csr
      sign stranger others extendedKeyUsage=clientAuth
      """;

  private final TemporaryFolder scratch = TemporaryFolder.create("isola-tls-");

  @BeforeEach
  void makeKeys() throws IOException, InterruptedException {
    if (HostProgram.find("openssl").isEmpty()) {
      Assumptions.abort("NOT RUN: openssl is not installed");
    }
    Process made =
        new ProcessBuilder("sh", "-c", MAKE)
            .directory(scratch.path().toFile())
            .redirectErrorStream(true)
            .redirectOutput(scratch.path().resolve("log").toFile())
            .start();
    assertThat(made.waitFor(50, TimeUnit.SECONDS)).isTrue();
    assertThat(made.exitValue()).as(Files.readString(scratch.path().resolve("log"))).isZero();
  }

  @AfterEach
  void removeKeys() {
    scratch.close();
  }

  /** Responds to every request of a trusted client over TLS. */
  private SSLServerSocket server() throws IOException {
    SSLServerSocket server =
        (SSLServerSocket)
            EngineTlsFiles.context(scratch.path().resolve("server"))
                .getServerSocketFactory()
                .createServerSocket(0, 8, InetAddress.getLoopbackAddress());
    server.setNeedClientAuth(true);
    Thread.startVirtualThread(
        () -> {
          while (!server.isClosed()) {
            try (Socket one = server.accept()) {
              byte[] request = new byte[4096];
              if (one.getInputStream().read(request) > 0) {
                one.getOutputStream().write(StubEngine.response(200, "{}").getBytes(ISO_8859_1));
              }
            } catch (IOException refusedOrOver) {
              // The next client may be trusted, or the test has ended.
            }
          }
        });
    return server;
  }

  private EngineAddress address(SSLServerSocket server, String folder) {
    return new EngineAddressResolver(
            EngineVariant.DOCKER,
            new ProviderConfig(
                Map.of(
                    "host",
                    "tcp://127.0.0.1:" + server.getLocalPort(),
                    "tls",
                    scratch.path().resolve(folder).toString())),
            Map.of(),
            scratch.path())
        .resolve();
  }

  @Test
  void trustedClientConnectsWithEitherKeyFormat() throws IOException {
    try (SSLServerSocket server = server()) {
      for (String known : new String[] {"client", "older"}) {
        try (EngineHttp http = new EngineHttp(address(server, known))) {
          for (int i = 0; i < 2; i++) {
            assertThat(http.send(HttpRequest.get("/info"), Deadline.in(TIMEOUT)).status())
                .as(known)
                .isEqualTo(200);
          }
        }
      }
    }
  }

  @Test
  void serverOfAnotherAuthorityIsRejected() throws IOException {
    try (SSLServerSocket server = server();
        EngineHttp http = new EngineHttp(address(server, "stranger"))) {
      assertThatThrownBy(() -> http.send(HttpRequest.get("/info"), Deadline.in(TIMEOUT)))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("is unreachable");
    }
  }

  @Test
  void clientOfAnotherAuthorityIsRejected() throws IOException {
    Path stranger = scratch.path().resolve("stranger/ca.pem");
    Files.copy(scratch.path().resolve("ours.pem"), stranger, StandardCopyOption.REPLACE_EXISTING);
    try (SSLServerSocket server = server();
        EngineHttp http = new EngineHttp(address(server, "stranger"))) {
      assertThatThrownBy(() -> http.send(HttpRequest.get("/info"), Deadline.in(TIMEOUT)))
          .isInstanceOf(ProviderUnavailable.class);
    }
  }
}
