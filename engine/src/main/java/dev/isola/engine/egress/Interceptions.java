package dev.isola.engine.egress;

import dev.isola.egress.http.HttpGate;
import dev.isola.egress.http.UpstreamTrust;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.secret.SecretService;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.Network;
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
import java.util.function.Supplier;

/** Opens the interception of each sandbox. */
public final class Interceptions implements SandboxInterception.Factory {
  private static final Duration REFUSAL = Duration.ofSeconds(2);

  private final SandboxAuthorities authorities;
  private final SecretService secrets;
  private final HttpGate gate;
  private final HttpGate refusals;

  /**
   * @throws dev.isola.spi.error.InvalidRequest if the operator's certificates cannot be read
   */
  public Interceptions(Config config, SandboxAuthorities authorities, SecretService secrets) {
    this.authorities = authorities;
    this.secrets = secrets;
    UpstreamTrust trust =
        UpstreamTrust.withAdditional(
            config.get(ConfigKeys.EGRESS_TRUST).map(Interceptions::read).orElse(List.of()));
    this.gate = new HttpGate(trust, HttpGate.Limits.DEFAULT);
    this.refusals = new HttpGate(trust, new HttpGate.Limits(REFUSAL, REFUSAL, REFUSAL, REFUSAL));
  }

  @Override
  public SandboxInterception open(SandboxId id, Supplier<Network> network) {
    return new HttpInterception(authorities.get(id), network, secrets, gate, refusals);
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
