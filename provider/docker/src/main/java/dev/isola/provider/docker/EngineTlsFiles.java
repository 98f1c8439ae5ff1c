package dev.isola.provider.docker;

import dev.isola.codec.x509.PemTls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** The three files that Docker uses for TLS: {@code ca.pem}, {@code cert.pem}, {@code key.pem}. */
final class EngineTlsFiles {
  private EngineTlsFiles() {}

  /**
   * Returns a context that trusts {@code ca.pem}, or the default trust store without it, and
   * authenticates with the other two files if they exist.
   */
  static SSLContext context(Path folder) throws IOException {
    Optional<byte[]> certificate = content(folder.resolve("cert.pem"));
    Optional<byte[]> key = content(folder.resolve("key.pem"));
    try {
      return PemTls.context(
          content(folder.resolve("ca.pem")),
          certificate.flatMap(pem -> key.map(secret -> new PemTls.Identity(pem, secret))));
    } catch (IOException e) {
      throw new IOException("the TLS files in " + folder + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static Optional<byte[]> content(Path file) throws IOException {
    return Files.exists(file) ? Optional.of(Files.readAllBytes(file)) : Optional.empty();
  }
}
