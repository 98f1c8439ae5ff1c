package dev.isola.engine.egress;

import dev.isola.egress.http.HttpGate;
import dev.isola.egress.http.UpstreamTrust;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * What serves HTTP for all sandboxes.
 *
 * @param refusing answers denied connections; it waits less for what a guest process sends
 */
record HttpGates(HttpGate serving, HttpGate refusing) {
  private static final Duration REFUSAL = Duration.ofSeconds(2);

  /** A client that speaks HTTP or TLS does so at once. Others, such as SSH, are reset after it. */
  private static final Duration FIRST_REQUEST = Duration.ofMillis(700);

  /**
   * @throws dev.isola.spi.error.InvalidRequest if the operator's certificates cannot be read
   */
  static HttpGates of(Config config) {
    UpstreamTrust trust =
        UpstreamTrust.withAdditional(
            config.get(ConfigKeys.EGRESS_TRUST).map(HttpGates::read).orElse(List.of()));
    return new HttpGates(
        new HttpGate(trust, HttpGate.Limits.DEFAULT),
        new HttpGate(trust, new HttpGate.Limits(REFUSAL, FIRST_REQUEST, REFUSAL, FIRST_REQUEST)));
  }

  private static Collection<X509Certificate> read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
          .map(X509Certificate.class::cast)
          .toList();
    } catch (IOException | CertificateException e) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the certificates in " + file + " cannot be read: " + e.getMessage(),
              "correct egress.trust: it names a file of certificates in PEM")
          .exception(e);
    }
  }
}
