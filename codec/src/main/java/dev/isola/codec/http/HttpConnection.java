package dev.isola.codec.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One HTTP/1.1 connection, used for one request at a time. Limits the size of headers and of every
 * length that the server announces.
 */
public final class HttpConnection {
  private static final int MAX_LINE = 8 * 1024;
  private static final int MAX_HEADERS = 100;
  private static final int BUFFER = 16 * 1024;

  private final HttpTransport transport;
  private final ByteBuffer in = ByteBuffer.allocate(BUFFER).limit(0);
  private Map<String, String> headers = Map.of();
  private boolean answered;

  public HttpConnection(HttpTransport transport) {
    this.transport = transport;
  }

  public HttpTransport transport() {
    return transport;
  }

  /** Tells whether the first byte of the response has arrived. */
  public boolean answered() {
    return answered;
  }

  public void send(HttpRequest request, boolean upgrade) throws IOException {
    answered = false;
    StringBuilder head = new StringBuilder();
    head.append(request.method()).append(' ').append(request.path()).append(" HTTP/1.1\r\n");
    head.append("Host: localhost\r\nUser-Agent: isola\r\n");
    if (upgrade) {
      head.append("Connection: Upgrade\r\nUpgrade: tcp\r\n");
    }
    request
        .body()
        .ifPresent(body -> head.append("Content-Type: ").append(body.type()).append("\r\n"));
    long length = request.body().map(HttpRequest.Body::length).orElse(0L);
    boolean chunked = length < 0;
    if (chunked) {
      head.append("Transfer-Encoding: chunked\r\n\r\n");
    } else if (request.body().isPresent() || request.isMutating()) {
      head.append("Content-Length: ").append(length).append("\r\n\r\n");
    } else {
      head.append("\r\n");
    }
    transport.write(ByteBuffer.wrap(head.toString().getBytes(ISO_8859_1)));
    if (chunked) {
      ChunkedOutput pieces = new ChunkedOutput(new Out());
      request.body().orElseThrow().writeTo(pieces);
      pieces.end();
    } else if (request.body().isPresent()) {
      request.body().get().writeTo(new Out());
    }
  }

  /** Reads the head of the response and returns the status. */
  public int head() throws IOException {
    int status = status(line());
    while (status >= 100 && status < 200 && status != 101) {
      readHeaders();
      status = status(line());
    }
    readHeaders();
    return status;
  }

  private static int status(String line) throws IOException {
    if (line.length() >= 12 && line.startsWith("HTTP/1.")) {
      try {
        return Integer.parseInt(line, 9, 12, 10);
      } catch (NumberFormatException notOne) {
        // Reported below.
      }
    }
    throw new IOException("it does not speak HTTP");
  }

  private void readHeaders() throws IOException {
    Map<String, String> found = new HashMap<>();
    int count = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (++count > MAX_HEADERS) {
        throw new IOException("its response has more than " + MAX_HEADERS + " headers");
      }
      int colon = line.indexOf(':');
      if (colon > 0) {
        found.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
    }
    headers = found;
  }

  /** Returns the body of the response. */
  public InputStream body(int status) throws IOException {
    if (status == 204 || status == 304) {
      return InputStream.nullInputStream();
    }
    if (header("transfer-encoding").equalsIgnoreCase("chunked")) {
      return new Chunks();
    }
    String length = header("content-length");
    return length.isEmpty() ? new Rest() : new Counted(number(length, 10));
  }

  /** Tells whether the connection is reusable after the body was read completely. */
  public boolean keepsAlive(int status) {
    boolean delimited =
        status == 204
            || status == 304
            || header("transfer-encoding").equalsIgnoreCase("chunked")
            || !header("content-length").isEmpty();
    return delimited && !header("connection").equalsIgnoreCase("close");
  }

  private String header(String name) {
    return headers.getOrDefault(name, "");
  }

  /** Returns all further bytes without interpretation. */
  public InputStream raw() {
    return new Rest();
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      if (!fill()) {
        throw new EOFException("it closed the connection within a response");
      }
      char c = (char) (in.get() & 0xff);
      if (c == '\n') {
        return line.toString().stripTrailing();
      }
      if (line.length() == MAX_LINE) {
        throw new IOException("its response has a line longer than " + MAX_LINE + " bytes");
      }
      line.append(c);
    }
  }

  private boolean fill() throws IOException {
    while (!in.hasRemaining()) {
      in.clear();
      int count = transport.read(in);
      in.flip();
      if (count < 0) {
        return false;
      }
      answered = true;
    }
    return true;
  }

  private static long number(String text, int radix) throws IOException {
    try {
      long value = Long.parseLong(text.strip(), radix);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException notOne) {
      // Reported below.
    }
    throw new IOException("its response has an invalid length '" + text + "'");
  }

  private int take(byte[] target, int at, int most) throws IOException {
    if (!fill()) {
      return -1;
    }
    int count = Math.min(most, in.remaining());
    in.get(target, at, count);
    return count;
  }

  /** Implements single-byte reads through bulk reads. */
  private abstract static class Input extends InputStream {
    private final byte[] one = new byte[1];

    @Override
    public int read() throws IOException {
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public final int read(byte[] target, int at, int most) throws IOException {
      return most == 0 ? 0 : some(target, at, most); // A read of zero bytes must not block.
    }

    abstract int some(byte[] target, int at, int most) throws IOException;
  }

  private final class Rest extends Input {
    @Override
    int some(byte[] target, int at, int most) throws IOException {
      return take(target, at, most);
    }
  }

  private final class Counted extends Input {
    private long left;

    private Counted(long length) {
      left = length;
    }

    @Override
    int some(byte[] target, int at, int most) throws IOException {
      if (left == 0) {
        return -1;
      }
      int count = take(target, at, (int) Math.min(most, left));
      if (count < 0) {
        throw new EOFException("it closed the connection within a response");
      }
      left -= count;
      return count;
    }
  }

  private final class Chunks extends Input {
    private long left;
    private boolean begun;
    private boolean ended;

    @Override
    int some(byte[] target, int at, int most) throws IOException {
      if (left == 0 && !ended) {
        next();
      }
      if (ended) {
        return -1;
      }
      int count = take(target, at, (int) Math.min(most, left));
      if (count < 0) {
        throw new EOFException("it closed the connection within a response");
      }
      left -= count;
      return count;
    }

    private void next() throws IOException {
      if (begun) {
        line();
      }
      begun = true;
      String size = line();
      int semicolon = size.indexOf(';');
      left = number(semicolon < 0 ? size : size.substring(0, semicolon), 16);
      if (left == 0) {
        readHeaders();
        ended = true;
      }
    }
  }

  private final class Out extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] source, int at, int count) throws IOException {
      transport.write(ByteBuffer.wrap(source, at, count));
    }
  }
}
