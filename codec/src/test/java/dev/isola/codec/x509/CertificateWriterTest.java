package dev.isola.codec.x509;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Certificates that the JDK's own validator accepts, and those that it refuses. */
class CertificateWriterTest {
  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");
  private static final Validity YEAR = new Validity(NOW, NOW.plus(Duration.ofDays(365)));

  private final SigningCertificate authority =
      CertificateWriter.authority("Test CA", "isola.example", YEAR);

  private SigningCertificate server(String... hosts) {
    return CertificateWriter.server("Test", List.of(hosts), authority, YEAR);
  }

  /**
   * Validates a certificate. The authority is part of the path, because the validator ignores the
   * constraints in the certificate of a trust anchor.
   */
  private static void validate(SigningCertificate server, SigningCertificate trusted, Instant at)
      throws GeneralSecurityException {
    PKIXParameters parameters =
        new PKIXParameters(
            Set.of(
                new TrustAnchor(
                    trusted.certificate().getSubjectX500Principal(),
                    trusted.certificate().getPublicKey(),
                    null)));
    parameters.setRevocationEnabled(false);
    parameters.setDate(Date.from(at));
    CertPathValidator.getInstance("PKIX")
        .validate(
            CertificateFactory.getInstance("X.509")
                .generateCertPath(List.of(server.certificate(), trusted.certificate())),
            parameters);
  }

  @Test
  void serverCertificateIsValidForItsNames() throws Exception {
    SigningCertificate server = server("isola.example", "*.isola.example");
    validate(server, authority, NOW.plus(Duration.ofDays(1)));
    assertThat(server.certificate().getSubjectAlternativeNames())
        .containsExactlyInAnyOrder(List.of(2, "isola.example"), List.of(2, "*.isola.example"));
    assertThat(server.certificate().getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
    assertThat(server.certificate().getBasicConstraints()).as("no authority").isEqualTo(-1);
    assertThat(server.certificate().getNotBefore().toInstant()).isEqualTo(YEAR.from());
    assertThat(server.certificate().getNotAfter().toInstant()).isEqualTo(YEAR.until());
    assertThat(server.certificate().getSerialNumber())
        .isNotEqualTo(server("isola.example").certificate().getSerialNumber());
    assertThat(authority.certificate().getBasicConstraints()).isZero();
    assertThat(authority.certificate().getKeyUsage())
        .containsExactly(false, false, false, false, false, true, true, false, false);
    authority.certificate().verify(authority.certificate().getPublicKey());
  }

  @Test
  void authorityIsLimitedToItsDomain() {
    for (String foreign : List.of("example", "evil.example", "*.evil.example", "xisola.example")) {
      assertThatThrownBy(() -> validate(server(foreign), authority, NOW))
          .as(foreign)
          .isInstanceOf(CertPathValidatorException.class);
    }
    assertThatThrownBy(
            () -> validate(server("isola.example"), authority, YEAR.until().plusSeconds(1)))
        .isInstanceOf(CertPathValidatorException.class);
    SigningCertificate other = CertificateWriter.authority("Test CA", "isola.example", YEAR);
    assertThatThrownBy(() -> validate(server("isola.example"), other, NOW))
        .as("another authority with the same name")
        .isInstanceOf(CertPathValidatorException.class);
  }

  @Test
  void authorityWithoutADomainIssuesForNamesAndAddresses() throws Exception {
    SigningCertificate unlimited = CertificateWriter.authority("Test CA", YEAR);
    SigningCertificate server =
        CertificateWriter.server(
            "Test", List.of("any.example", "192.0.2.1", "2001:db8::1"), unlimited, YEAR);
    validate(server, unlimited, NOW);
    assertThat(server.certificate().getSubjectAlternativeNames())
        .containsExactlyInAnyOrder(
            List.of(2, "any.example"), List.of(7, "192.0.2.1"), List.of(7, "2001:db8:0:0:0:0:0:1"));
  }

  /** Years from 2050 have another encoding. */
  @Test
  void timesAreEncodedByTheirYear() {
    Validity late =
        new Validity(Instant.parse("2049-12-31T23:59:59Z"), Instant.parse("2050-01-01T00:00:00Z"));
    SigningCertificate certificate = CertificateWriter.authority("Test CA", "isola.example", late);
    assertThat(certificate.certificate().getNotBefore().toInstant()).isEqualTo(late.from());
    assertThat(certificate.certificate().getNotAfter().toInstant()).isEqualTo(late.until());
  }
}
