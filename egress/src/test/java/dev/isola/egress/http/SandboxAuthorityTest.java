package dev.isola.egress.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class SandboxAuthorityTest {
  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-11-18T00:00:00Z"));
  private final InstantSource clock = now::get;

  private static X509Certificate certificate(SandboxAuthority authority) throws Exception {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(
                new ByteArrayInputStream(
                    authority.certificatePem().getBytes(StandardCharsets.US_ASCII)));
  }

  @Test
  void authorityIsRestoredFromItsBytes() throws Exception {
    SandboxAuthority authority = SandboxAuthority.create("sb-1", clock);
    SandboxAuthority restored = SandboxAuthority.decode(authority.encode(), clock);
    assertThat(restored.certificatePem()).isEqualTo(authority.certificatePem());
    assertThat(restored.encode()).isEqualTo(authority.encode());
    X509Certificate certificate = certificate(authority);
    assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=Isola sandbox sb-1");
    assertThat(certificate.getBasicConstraints()).isZero();
    assertThat(Duration.between(now.get(), certificate.getNotAfter().toInstant()).toDays())
        .isEqualTo(3650);
    assertThat(authority.certificatePem()).doesNotContain("PRIVATE");
  }

  @Test
  void damagedBytesAreRefused() {
    byte[] bytes = SandboxAuthority.create("sb-1", clock).encode();
    byte[] other = SandboxAuthority.create("sb-2", clock).encode();
    byte[] mixed = bytes.clone();
    int key = 5 + (bytes[4] & 0xff);
    System.arraycopy(other, 5, mixed, 5, Math.min(key, 5 + (other[4] & 0xff)) - 5);
    for (byte[] wrong :
        new byte[][] {new byte[0], new byte[100], Arrays.copyOf(bytes, bytes.length - 1), mixed}) {
      assertThatThrownBy(() -> SandboxAuthority.decode(wrong, clock))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void certificatesAreReusedRenewedAndBounded() {
    SandboxAuthority authority = SandboxAuthority.create("sb-1", clock);
    Object first = authority.serverContext("a.example");
    assertThat(authority.serverContext("a.example")).isSameAs(first);
    now.updateAndGet(time -> time.plus(Duration.ofDays(6)).plusSeconds(1));
    Object second = authority.serverContext("a.example");
    assertThat(second).as("in its last day").isNotSameAs(first);
    for (int i = 0; i < 64; i++) {
      authority.serverContext("host-" + i + ".example");
    }
    assertThat(authority.serverContext("a.example")).as("forgotten").isNotSameAs(second);
    authority.serverContext("192.0.2.1");
    authority.serverContext("2001:db8::1");
  }

  @Test
  void onlyNamesThatFitIntoACertificateAreServed() {
    for (String host :
        new String[] {
          "a", "a.b-c.example", "_x.example", "192.0.2.1", "::1", "xn--bcher-kva.example"
        }) {
      assertThat(TlsInterceptor.isHost(host)).as(host).isTrue();
    }
    for (String host :
        new String[] {
          "",
          ".",
          "a..b",
          "a.",
          "-a",
          "a b",
          "ä",
          "a/b",
          "a\n",
          "*.a",
          "x".repeat(64),
          "a.".repeat(127) + "aa"
        }) {
      assertThat(TlsInterceptor.isHost(host)).as(host).isFalse();
    }
  }
}
