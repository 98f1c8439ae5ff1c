package dev.isola.host.image;

import dev.isola.codec.digest.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;

/** An incremental digest of content as OCI images name it; {@link #text} finishes it. */
final class ContentDigest {
  private final MessageDigest digest = Sha256.newDigest();

  static String of(byte[] bytes) {
    ContentDigest hash = new ContentDigest();
    hash.update(bytes, 0, bytes.length);
    return hash.text();
  }

  static String of(Path file) throws IOException {
    ContentDigest hash = new ContentDigest();
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
