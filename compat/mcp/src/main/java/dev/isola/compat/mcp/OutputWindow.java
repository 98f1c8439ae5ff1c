package dev.isola.compat.mcp;

import dev.isola.spi.Bytes;
import dev.isola.spi.exec.Output;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The part of a command's output that a result contains: its beginning and its end. Both channels
 * are in one stream, in the order in which they were written.
 */
final class OutputWindow {
  private final int headLimit;
  private final int tailLimit;
  private final ByteArrayOutputStream head = new ByteArrayOutputStream();
  private byte[] tail = new byte[0];
  private long position;
  private long headEnd;
  private long lost;
  private boolean headClosed;

  /**
   * @param start the offset at which reading begins
   * @param tailLimit 0 if reading ends when the head is full
   */
  OutputWindow(long start, int headLimit, int tailLimit) {
    position = start;
    headEnd = start;
    this.headLimit = headLimit;
    this.tailLimit = tailLimit;
  }

  void add(Output output) {
    switch (output) {
      case Output.Gap gap -> {
        lost += gap.lost();
        if (head.size() > 0) {
          headClosed = true;
          tail = new byte[0];
        } else {
          headEnd = gap.end();
        }
        position = gap.end();
      }
      case Output.Data data -> add(data.bytes());
    }
  }

  private void add(Bytes bytes) {
    int toHead = headClosed ? 0 : Math.min(bytes.size(), headLimit - head.size());
    bytes.copyTo(0, head, toHead);
    headEnd += toHead;
    position += bytes.size();
    if (toHead < bytes.size()) {
      headClosed = true;
      int added = Math.min(bytes.size() - toHead, tailLimit);
      int kept = Math.min(tail.length, tailLimit - added);
      byte[] last = Arrays.copyOfRange(tail, tail.length - kept, tail.length + added);
      bytes.copyTo(bytes.size() - added, last, kept, added);
      tail = last;
    }
  }

  boolean isFull() {
    return headClosed || head.size() >= headLimit;
  }

  boolean isEmpty() {
    return head.size() == 0;
  }

  /** Returns how many bytes are no longer stored in the sandbox. */
  long lost() {
    return lost;
  }

  /** Returns the offset of the first byte that the result leaves out. */
  long headEnd() {
    return headEnd;
  }

  /** Returns the offset after the last byte that was read. */
  long position() {
    return position;
  }

  /** Returns the number of bytes between the beginning and the end. */
  long omitted() {
    return position - headEnd - tail.length;
  }

  /**
   * Returns the output. Bytes that are not UTF-8 become U+FFFD.
   *
   * @param handle for the line that says how to read what is left out
   */
  String text(String handle) {
    String beginning = head.toString(StandardCharsets.UTF_8);
    String end = new String(tail, StandardCharsets.UTF_8);
    return omitted() == 0
        ? beginning + end
        : beginning
            + "\n[... "
            + omitted()
            + " bytes left out; read them with output(handle=\""
            + handle
            + "\", offset="
            + headEnd
            + ") ...]\n"
            + end;
  }

  /** Removes the beginning of a character whose rest was not read, unless nothing else is left. */
  void dropIncompleteCharacter() {
    byte[] bytes = head.toByteArray();
    int first = bytes.length - 1;
    while (first > 0 && bytes.length - first < 4 && (bytes[first] & 0xC0) == 0x80) {
      first--;
    }
    boolean incomplete =
        first > 0 && (bytes[first] & 0xC0) == 0xC0 && bytes.length - first < length(bytes[first]);
    if (incomplete) {
      head.reset();
      head.write(bytes, 0, first);
      headEnd -= bytes.length - first;
    }
    tail = new byte[0];
    position = headEnd;
  }

  private static int length(byte lead) {
    if ((lead & 0xE0) == 0xC0) {
      return 2;
    }
    return (lead & 0xF0) == 0xE0 ? 3 : 4;
  }
}
