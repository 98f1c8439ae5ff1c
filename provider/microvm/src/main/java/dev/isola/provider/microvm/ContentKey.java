package dev.isola.provider.microvm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names for cached files that follow from what the files are made of. */
public final class ContentKey {
  private static final int LENGTH = 32;

  private ContentKey() {}

  /** Returns a key for a list of facts. */
  public static String of(String... facts) {
    return hash(String.join("\n", facts).getBytes(UTF_8));
  }

  /** Returns a key for the content of a file. */
  public static String contentOf(Path file) throws IOException {
    return hash(Files.readAllBytes(file));
  }

  /** Returns a text that changes when a file is replaced. */
  public static String fileIdentity(Path file) throws IOException {
    return Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis();
  }

  private static String hash(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(digest).substring(0, LENGTH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
