package dev.isola.host.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** An incremental SHA-256 hash; {@link #text} finishes it. */
final class Sha256 {
  private final MessageDigest digest;

  Sha256() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static String of(byte[] bytes) {
    Sha256 hash = new Sha256();
    hash.update(bytes, 0, bytes.length);
    return hash.text();
  }

  static String of(Path file) throws IOException {
    Sha256 hash = new Sha256();
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      int n;
      while ((n = in.read(buffer)) >= 0) {
        hash.update(buffer, 0, n);
      }
    }
    return hash.text();
  }

  void update(byte[] bytes, int offset, int length) {
    digest.update(bytes, offset, length);
  }

  /** Returns {@code sha256:} and 64 hexadecimal digits. */
  String text() {
    return "sha256:" + HexFormat.of().formatHex(digest.digest());
  }
}
