package dev.isola.provider.http;

import dev.isola.codec.x509.PemTls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** Creates a TLS context from the PEM files of the settings. */
final class PemFiles {
  private PemFiles() {}

  /**
   * Returns the context of the settings; empty if they leave everything to the JDK.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming the setting whose file is not usable
   */
  static Optional<SSLContext> context(HttpSettings settings) {
    if (settings.ca().isEmpty() && settings.identity().isEmpty()) {
      return Optional.empty();
    }
    String setting = "ca";
    try {
      Optional<byte[]> authorities = content(settings.ca());
      SSLContext trusting = PemTls.context(authorities, Optional.empty());
      setting = "certificate";
      Optional<byte[]> certificate =
          content(settings.identity().map(HttpSettings.ClientIdentity::certificate));
      Optional<byte[]> key = content(settings.identity().map(HttpSettings.ClientIdentity::key));
      return Optional.of(
          certificate.isEmpty()
              ? trusting
              : PemTls.context(
                  authorities,
                  Optional.of(new PemTls.Identity(certificate.get(), key.orElseThrow()))));
    } catch (IOException e) {
      throw HttpSettings.invalid(
          setting,
          "is not usable: " + e.getMessage(),
          "use PEM files; the private key without a password");
    }
  }

  private static Optional<byte[]> content(Optional<Path> file) throws IOException {
    return file.isPresent() ? Optional.of(Files.readAllBytes(file.get())) : Optional.empty();
  }
}
