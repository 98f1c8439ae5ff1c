package dev.isola.provider.memory.shell;

import java.nio.charset.StandardCharsets;

/**
 * Text of the shell has one character for each byte, so that any bytes pass through it unharmed.
 */
final class Raw {
  private Raw() {}

  static String of(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  static String text(String raw) {
    return new String(bytes(raw), StandardCharsets.UTF_8);
  }

  static byte[] bytes(String raw) {
    return raw.getBytes(StandardCharsets.ISO_8859_1);
  }

  static String of(byte[] bytes, int length) {
    return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
  }
}
