package dev.isola.provider.microvm;

import dev.isola.codec.digest.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Names for cached files that follow from what the files are made of. */
public final class ContentKey {
  private static final int LENGTH = 32;

  private ContentKey() {}

  /** Returns a key for a list of facts. */
  public static String of(String... facts) {
    return Sha256.hex(String.join("\n", facts)).substring(0, LENGTH);
  }

  /** Returns a key for the content of a file. */
  public static String contentOf(Path file) throws IOException {
    return Sha256.hex(Files.readAllBytes(file)).substring(0, LENGTH);
  }

  /** Returns a text that changes when a file is replaced. */
  public static String fileIdentity(Path file) throws IOException {
    return Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis();
  }
}
