package dev.isola.provider.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** B9: backends with a certificate of their own, and backends that require one of the client. */
class BackendTlsTest {
  private final Validity today =
      new Validity(
          Instant.now().minus(Duration.ofHours(1)), Instant.now().plus(Duration.ofHours(1)));

  @TempDir private Path folder;
  private SigningCertificate authority;
  private LyingServer server;

  @BeforeEach
  void start() throws Exception {
    authority = CertificateWriter.authority("Test", "localhost", today);
    SigningCertificate own =
        CertificateWriter.server("Backend", List.of("localhost"), authority, today);
    pem("ca.pem", authority.certificate());
    pem("client.pem", authority.certificate());
    Files.writeString(
        folder.resolve("client.key"), block("PRIVATE KEY", authority.key().getEncoded()));
    SSLContext context = context(own);
    SSLServerSocket socket =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    socket.setNeedClientAuth(true);
    server = new LyingServer(socket);
  }

  private SSLContext context(SigningCertificate own) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry(
        "own",
        own.key(),
        new char[0],
        new Certificate[] {own.certificate(), authority.certificate()});
    keys.setCertificateEntry("ca", authority.certificate());
    KeyManagerFactory keyManagers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keyManagers.init(keys, new char[0]);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(keys);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keyManagers.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private void pem(String name, Certificate certificate) throws Exception {
    Files.writeString(folder.resolve(name), block("CERTIFICATE", certificate.getEncoded()));
  }

  private static String block(String type, byte[] content) {
    return "-----BEGIN "
        + type
        + "-----\n"
        + Base64.getMimeEncoder().encodeToString(content)
        + "\n-----END "
        + type
        + "-----\n";
  }

  private HttpProvider provider(String... settings) {
    Map<String, String> all = new HashMap<>();
    all.put("url", server.url().replace("http://127.0.0.1", "https://localhost"));
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], folder.resolve(settings[i + 1]).toString());
    }
    return new HttpProvider(
        HttpSettings.of(new ProviderConfig(all)),
        new ProviderContext(new InstanceId("test"), folder, InstantSource.system()),
        Duration.ofSeconds(3));
  }

  @Test
  void requestsAndChannelsUseTheCertificates() throws Exception {
    try (LyingServer backend =
            server
                .info(
                    server
                        .info()
                        .replace(
                            "\"simple\"",
                            "\"channel\",\"channel\":\"relay\",\"architecture\":\"x86_64\""))
                .on(
                    "GET /channel",
                    (_, out) ->
                        out.write(
                            "HTTP/1.1 101 Yes\r\nUpgrade: isola-channel\r\n\r\nnot an agent"
                                .getBytes(ISO_8859_1)));
        HttpProvider provider =
            provider(
                "ca", "ca.pem", "certificate", "client.pem", "certificate_key", "client.key")) {
      assertThat(provider.health().healthy()).as(provider.health().toString()).isTrue();
      assertThatThrownBy(() -> provider.create(SandboxSpec.builder(new SandboxId("box")).build()))
          .isInstanceOf(SandboxException.class);
      assertThat(backend.received)
          .as("the channel was opened over TLS")
          .anySatisfy(
              request -> assertThat(request.headers()).containsEntry("upgrade", "isola-channel"));
    }
  }

  @Test
  void aBackendThatRequiresACertificateRefusesAClientWithoutOne() throws Exception {
    try (LyingServer _ = server;
        HttpProvider provider = provider("ca", "ca.pem")) {
      assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
    }
  }

  @Test
  void aBackendOfAnUnknownAuthorityIsRefused() throws Exception {
    try (LyingServer backend = server;
        HttpProvider provider = provider()) {
      assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
      assertThat(backend.received).isEmpty();
    }
  }

  @Test
  void unusableFilesAreNamed() throws Exception {
    try (LyingServer _ = server) {
      assertThatThrownBy(() -> provider("ca", "missing.pem")).hasMessageContaining("setting ca");
      assertThatThrownBy(() -> provider("certificate", "client.pem"))
          .hasMessageContaining("needs certificate_key");
      assertThatThrownBy(
              () -> provider("certificate", "client.pem", "certificate_key", "client.pem"))
          .hasMessageContaining("no PRIVATE KEY");
    }
  }
}
