package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.OutputLimit;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.SequenceInputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;

/**
 * Retains the head and the tail of one output channel and streams them into a response. Neither the
 * bytes nor their JSON form is in memory as a whole: 8 MiB of NUL bytes take 48 MiB as JSON.
 */
final class RetainedOutput implements AutoCloseable {
  private final OutputLimit limit;
  private final ByteBlocks head;
  private final ByteBlocks tail;
  private long total;
  private boolean headClosed;
  private boolean outOfBudget;

  RetainedOutput(OutputLimit limit, ByteBudget budget) {
    this.limit = limit;
    head = new ByteBlocks(budget);
    tail = new ByteBlocks(budget);
  }

  void add(Bytes bytes) {
    total += bytes.size();
    int done = 0;
    if (!headClosed) {
      int requested = (int) Math.min(bytes.size(), limit.head() - head.size());
      done = head.append(bytes, 0, requested);
      if (done < requested) {
        headClosed = true;
        outOfBudget = true;
      }
    }
    addToTail(bytes, done);
  }

  /** Retains the last bytes; when the budget is exhausted, as many of them as there is room for. */
  private void addToTail(Bytes bytes, int from) {
    if (limit.tail() == 0) {
      return;
    }
    int at = Math.max(from, bytes.size() - limit.tail());
    while (at < bytes.size()) {
      int requested = Math.min(bytes.size() - at, ByteBlocks.BLOCK);
      tail.drop(tail.size() + requested - limit.tail());
      int done = tail.append(bytes, at, requested);
      at += done;
      if (done < requested) {
        outOfBudget = true;
        tail.drop(ByteBlocks.BLOCK);
      }
    }
  }

  /**
   * Records lost bytes. Later output no longer belongs to the head, and earlier output no longer to
   * the tail.
   */
  void addLost(long bytes) {
    if (bytes > 0) {
      total += bytes;
      headClosed = true;
      tail.drop(tail.size());
    }
  }

  /** Returns the number of bytes written, including those not retained. */
  long total() {
    return total;
  }

  long omitted() {
    return total - head.size() - tail.size();
  }

  /**
   * Returns whether less was retained than the limit allows because the shared budget was
   * exhausted.
   */
  boolean isOutOfBudget() {
    return outOfBudget;
  }

  /** Returns a JSON value that streams the output. */
  Json.StreamedText toJsonText(boolean base64) {
    return base64
        ? new Json.StreamedText.Base64(
            new SequenceInputStream(head.stream(), tail.stream()),
            Math.toIntExact(head.size() + tail.size()))
        : new Json.StreamedText.Characters(text());
  }

  /** Decodes the output as UTF-8, with a line that states how many bytes were omitted. */
  Reader text() {
    if (omitted() == 0) {
      return utf8(new SequenceInputStream(head.stream(), tail.stream()));
    }
    return new ConcatenatedReader(
        utf8(head.stream()),
        new StringReader("\n[... " + omitted() + " bytes omitted ...]\n"),
        utf8(tail.stream()));
  }

  private static Reader utf8(InputStream in) {
    return new InputStreamReader(in, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    head.close();
    tail.close();
  }
}
