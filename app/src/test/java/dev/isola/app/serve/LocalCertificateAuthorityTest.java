package dev.isola.app.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.app.cli.DataFolder;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A1: the certificate authority in the data folder. */
class LocalCertificateAuthorityTest {
  private static final String DOMAIN = "e2b.localhost";
  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

  @TempDir Path data;

  private LocalCertificateAuthority open(String domain, Instant at) {
    return LocalCertificateAuthority.open(new DataFolder(data), domain, InstantSource.fixed(at));
  }

  private Path file(String name) {
    return data.resolve("e2b-tls").resolve(DOMAIN).resolve(name);
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void isCreatedOnceAndAnnouncedOnce() throws IOException {
    List<String> usage = open(DOMAIN, NOW).usage(7777);
    assertThat(String.join("\n", usage))
        .contains(DOMAIN, "valid until 2036-04-28", "E2B_DOMAIN=e2b.localhost:7777")
        .contains("NODE_EXTRA_CA_CERTS=" + file("ca.pem"), "SSL_CERT_FILE=", "--cacert")
        .doesNotContain("ca.key");
    byte[] certificate = Files.readAllBytes(file("ca.pem"));
    byte[] key = Files.readAllBytes(file("ca.key"));
    assertThat(mode(file("ca.key"))).isEqualTo("rw-------");
    assertThat(mode(file("ca.pem"))).as("clients read it").isEqualTo("rw-r--r--");
    assertThat(new String(certificate, US_ASCII)).doesNotContain("PRIVATE");
    LocalCertificateAuthority again = open(DOMAIN, NOW.plus(Duration.ofDays(1000)));
    assertThat(again.usage(7777)).isEmpty();
    again.issue();
    assertThat(file("ca.pem")).hasBinaryContent(certificate);
    assertThat(file("ca.key")).hasBinaryContent(key);
    try (var files = Files.list(file("ca.pem").getParent())) {
      assertThat(files.toList()).as("no drafts, no key of the server").hasSize(2);
    }
  }

  @Test
  void isReplacedBeforeItExpires() throws IOException {
    assertThat(open(DOMAIN, NOW).usage(1)).isNotEmpty();
    byte[] before = Files.readAllBytes(file("ca.pem"));
    assertThat(open(DOMAIN, NOW.plus(Duration.ofDays(3650 - 91))).usage(1)).isEmpty();
    assertThat(open(DOMAIN, NOW.plus(Duration.ofDays(3650 - 89))).usage(1)).isNotEmpty();
    assertThat(Files.readAllBytes(file("ca.pem"))).isNotEqualTo(before);
  }

  @Test
  void everyDomainHasItsOwn() throws IOException {
    open(DOMAIN, NOW);
    byte[] before = Files.readAllBytes(file("ca.key"));
    assertThat(open("other.localhost", NOW).usage(1)).isNotEmpty();
    assertThat(file("ca.key")).hasBinaryContent(before);
  }

  /** A crash can leave the key alone, because it is written first. */
  @Test
  void halfWrittenAuthorityIsCreatedAgain() throws IOException {
    open(DOMAIN, NOW);
    Files.delete(file("ca.pem"));
    assertThat(open(DOMAIN, NOW).usage(1)).isNotEmpty();
    assertThat(open(DOMAIN, NOW).usage(1)).isEmpty();
  }

  @Test
  void damagedFilesAreReportedAndKept() throws IOException {
    open(DOMAIN, NOW);
    byte[] other = Files.readAllBytes(file("ca.key"));
    Files.delete(file("ca.pem"));
    open(DOMAIN, NOW);
    for (byte[] damage : List.of(new byte[0], "rubbish".getBytes(US_ASCII), other)) {
      Files.write(file("ca.key"), damage);
      assertThatThrownBy(() -> open(DOMAIN, NOW))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining(data.resolve("e2b-tls").resolve(DOMAIN).toString());
      assertThat(file("ca.key")).hasBinaryContent(damage);
    }
  }
}
