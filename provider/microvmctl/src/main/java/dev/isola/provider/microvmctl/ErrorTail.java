package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The end of what a process wrote to standard error, in bounded memory. */
final class ErrorTail {
  private static final int MAX = 16 * 1024;

  private final StringBuilder text = new StringBuilder();

  synchronized void add(byte[] bytes) {
    text.append(new String(bytes, UTF_8));
    text.delete(0, Math.max(0, text.length() - MAX));
  }

  synchronized String text() {
    return text.toString();
  }
}
