package dev.isola.compat.mcp;

import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Splits the standard output of a hosted server into lines. Of a line that is too long only the
 * beginning is kept. Used by one thread.
 */
final class MessageLines implements AutoCloseable {
  /** Bytes of a line that need no reservation, so that no server depends on others for them. */
  private static final int ALLOWANCE = 64 << 10;

  private static final int PREFIX = 256;

  /** Receives lines, without their line break. */
  interface Receiver {
    void line(byte[] line);

    /**
     * A line was too long.
     *
     * @param beginning its first characters
     */
    void tooLong(String beginning);
  }

  private final int maxLength;
  private final ByteBudget budget;
  private final Receiver receiver;
  private ByteArrayOutputStream current = new ByteArrayOutputStream();
  private long reserved;
  private boolean skipping;
  private boolean lost;

  MessageLines(int maxLength, ByteBudget budget, Receiver receiver) {
    this.maxLength = maxLength;
    this.budget = budget;
    this.receiver = receiver;
  }

  void add(Bytes bytes) {
    int start = 0;
    for (int i = 0; i < bytes.size(); i++) {
      if (bytes.at(i) == '\n') {
        append(bytes, start, i);
        end();
        start = i + 1;
      }
    }
    append(bytes, start, bytes.size());
  }

  /** Discards the current line up to its end, because output before this point was lost. */
  void skipLine() {
    reset();
    skipping = true;
    lost = true;
  }

  /** Returns whether a line has begun and not ended. */
  boolean isPartial() {
    return skipping || current.size() > 0;
  }

  private void append(Bytes bytes, int start, int end) {
    int length = end - start;
    if (skipping || length == 0) {
      return;
    }
    int size = current.size() + length;
    if (size > maxLength || !reserve(size)) {
      int rest = Math.max(0, Math.min(length, PREFIX - current.size()));
      bytes.copyTo(start, current, rest);
      byte[] prefix = Arrays.copyOf(current.toByteArray(), Math.min(current.size(), PREFIX));
      reset();
      current.writeBytes(prefix);
      skipping = true;
      return;
    }
    bytes.copyTo(start, current, length);
  }

  private boolean reserve(int size) {
    long missing = size - ALLOWANCE - reserved;
    if (missing <= 0) {
      return true;
    }
    long step = Math.max(missing, ALLOWANCE);
    if (!budget.tryReserve(step)) {
      return false;
    }
    reserved += step;
    return true;
  }

  private void end() {
    if (skipping) {
      String beginning = current.toString(StandardCharsets.UTF_8);
      boolean report = !lost;
      reset();
      if (report) {
        receiver.tooLong(beginning);
      }
      return;
    }
    byte[] line = current.toByteArray();
    try {
      receiver.line(line);
    } finally {
      reset();
    }
  }

  private void reset() {
    current = current.size() > ALLOWANCE ? new ByteArrayOutputStream() : emptied(current);
    budget.release(reserved);
    reserved = 0;
    skipping = false;
    lost = false;
  }

  private static ByteArrayOutputStream emptied(ByteArrayOutputStream buffer) {
    buffer.reset();
    return buffer;
  }

  @Override
  public void close() {
    reset();
  }
}
