package dev.isola.engine.startup;

import dev.isola.spi.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Keeps the last bytes of the output of a command, for error messages. */
final class OutputTail {
  /** The number of bytes kept. */
  static final int MAX_BYTES = 2048;

  private byte[] kept = new byte[0];

  synchronized void add(Bytes bytes) {
    int fromBytes = Math.min(bytes.size(), MAX_BYTES);
    int fromKept = Math.min(kept.length, MAX_BYTES - fromBytes);
    byte[] joined = Arrays.copyOfRange(kept, kept.length - fromKept, kept.length + fromBytes);
    bytes.copyTo(bytes.size() - fromBytes, joined, fromKept, fromBytes);
    kept = joined;
  }

  synchronized String text() {
    return new String(kept, StandardCharsets.UTF_8);
  }
}
