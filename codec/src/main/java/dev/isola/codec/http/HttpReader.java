package dev.isola.codec.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;

/**
 * Reads the parts of HTTP/1.1 messages from a connection, strictly: bare line feeds, folded lines
 * and chunk sizes in an unusual form are malformed.
 */
public final class HttpReader {
  private static final int BUFFER = 16 * 1024;
  private static final int MAX_CHUNK_LINE = 256;
  private static final int MAX_SIZE_DIGITS = 15;

  private final ReadableByteChannel in;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).limit(0);

  public HttpReader(ReadableByteChannel in) {
    this.in = in;
  }

  /** Waits for a byte. Returns false if the connection ended instead. */
  public boolean awaitByte() throws IOException {
    while (!buffer.hasRemaining()) {
      buffer.clear();
      int count;
      try {
        count = in.read(buffer);
      } finally {
        buffer.flip();
      }
      if (count < 0) {
        return false;
      }
    }
    return true;
  }

  /** Reads a head of at most {@code limit} bytes. */
  public HttpHead head(int limit) throws IOException {
    return HttpHead.parse(lines(limit, false));
  }

  /** Reads the fields after the last chunk. */
  public List<HttpHead.Field> trailers(int limit) throws IOException {
    return HttpHead.parseFields(lines(limit, true));
  }

  /** Reads lines up to an empty one, which is left out. */
  private byte[] lines(int limit, boolean mayBeEmpty) throws IOException {
    ByteArrayOutputStream lines = new ByteArrayOutputStream(512);
    int lineLength = 0;
    int previous = -1;
    while (true) {
      int next = next();
      if (next == '\n') {
        if (previous != '\r') {
          throw new MalformedHttpException("a line does not end in CR LF");
        }
        if (lineLength == 1) { // its CR only
          byte[] all = lines.toByteArray();
          if (all.length == 1 && !mayBeEmpty) {
            throw new MalformedHttpException("the message begins with an empty line");
          }
          return Arrays.copyOf(all, all.length - 1);
        }
        lineLength = 0;
      } else {
        lineLength++;
      }
      if (lines.size() == limit) {
        throw new MalformedHttpException("the head is longer than " + limit + " bytes");
      }
      lines.write(next);
      previous = next;
    }
  }

  private int next() throws IOException {
    if (!awaitByte()) {
      throw new EOFException("the connection ended within a message");
    }
    return buffer.get() & 0xff;
  }

  /** Reads bytes of a body: at least one, or -1 at the end of the connection. */
  public int read(byte[] target, int at, int most) throws IOException {
    if (!awaitByte()) {
      return -1;
    }
    int count = Math.min(most, buffer.remaining());
    buffer.get(target, at, count);
    return count;
  }

  /** Reads the line before a chunk and returns its size; 0 is the last chunk. */
  public long chunkSize() throws IOException {
    byte[] line = line();
    int digits = 0;
    while (digits < line.length && HexFormat.isHexDigit(line[digits])) {
      digits++;
    }
    boolean extension = digits < line.length && line[digits] == ';';
    if (digits == 0 || digits > MAX_SIZE_DIGITS || (digits < line.length && !extension)) {
      throw new MalformedHttpException("a chunk has an invalid size");
    }
    return HexFormat.fromHexDigitsToLong(new String(line, 0, digits, ISO_8859_1));
  }

  /** Reads the line break after a chunk. */
  public void chunkEnd() throws IOException {
    if (next() != '\r' || next() != '\n') {
      throw new MalformedHttpException("a chunk is longer than its size");
    }
  }

  private byte[] line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      int next = next();
      if (next == '\r') {
        if (next() != '\n') {
          break;
        }
        return line.toByteArray();
      }
      if (next < ' ' || line.size() == MAX_CHUNK_LINE) {
        break;
      }
      line.write(next);
    }
    throw new MalformedHttpException("a chunk has an invalid size");
  }

  /**
   * Returns the length that a message announces; empty if it announces none.
   *
   * @throws MalformedHttpException if there are several, or one that is not a number
   */
  public static OptionalLong contentLength(HttpHead head) throws MalformedHttpException {
    List<String> lengths = head.values("content-length");
    if (lengths.isEmpty()) {
      return OptionalLong.empty();
    }
    if (lengths.size() > 1 || !lengths.getFirst().matches("[0-9]{1,18}")) {
      throw new MalformedHttpException("there is more than one length, or an invalid one");
    }
    return OptionalLong.of(Long.parseLong(lengths.getFirst()));
  }

  /**
   * Returns whether the body is chunked.
   *
   * @throws MalformedHttpException if it is encoded in another way too, or also has a length
   */
  public static boolean isChunked(HttpHead head) throws MalformedHttpException {
    List<String> codings = head.values("transfer-encoding");
    if (codings.isEmpty()) {
      return false;
    }
    if (codings.size() > 1 || !codings.getFirst().equalsIgnoreCase("chunked")) {
      throw new MalformedHttpException("the transfer encoding is not chunked");
    }
    if (!head.values("content-length").isEmpty()) {
      throw new MalformedHttpException("there is a length and a transfer encoding");
    }
    return true;
  }
}
