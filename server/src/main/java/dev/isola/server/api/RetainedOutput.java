package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.exec.OutputLimit;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.SequenceInputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;

/**
 * The head and the tail of one channel of a command, and its way into an answer. Neither the bytes
 * nor the text of them is ever in memory as a whole: eight mebibytes of NUL are 48 as JSON.
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

  void add(byte[] bytes) {
    total += bytes.length;
    int done = 0;
    if (!headClosed) {
      int wanted = (int) Math.min(bytes.length, limit.head() - head.size());
      done = head.append(bytes, 0, wanted);
      if (done < wanted) {
        headClosed = true;
        outOfBudget = true;
      }
    }
    addToTail(bytes, done);
  }

  /** Keeps the last bytes; when the budget is used up, as many of them as there is room for. */
  private void addToTail(byte[] bytes, int from) {
    if (limit.tail() == 0) {
      return;
    }
    int at = Math.max(from, bytes.length - limit.tail());
    while (at < bytes.length) {
      int wanted = Math.min(bytes.length - at, ByteBlocks.BLOCK);
      tail.drop(tail.size() + wanted - limit.tail());
      int done = tail.append(bytes, at, wanted);
      at += done;
      if (done < wanted) {
        outOfBudget = true;
        tail.drop(ByteBlocks.BLOCK);
      }
    }
  }

  /** What follows lost bytes is not the head any more, and what came before them not the tail. */
  void addLost(long bytes) {
    if (bytes > 0) {
      total += bytes;
      headClosed = true;
      tail.drop(tail.size());
    }
  }

  /** Returns how many bytes were written, kept or not. */
  long total() {
    return total;
  }

  long omitted() {
    return total - head.size() - tail.size();
  }

  /** Tells whether less was kept than the limit allows, because all requests share a budget. */
  boolean isOutOfBudget() {
    return outOfBudget;
  }

  /** Returns a value for an answer. */
  Json.StreamedText toJsonText(boolean base64) {
    return base64
        ? new Json.StreamedText.Base64(
            new SequenceInputStream(head.stream(), tail.stream()),
            Math.toIntExact(head.size() + tail.size()))
        : new Json.StreamedText.Characters(text());
  }

  /** Decodes as UTF-8; where bytes were dropped a line says how many. */
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
