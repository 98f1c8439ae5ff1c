package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpHead.Field;
import dev.isola.codec.http.HttpReader;
import dev.isola.codec.http.MalformedHttpException;
import dev.isola.egress.http.RequestPolicy.Decision;
import dev.isola.spi.capability.PortDialing;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Passes requests of HTTP/1.1 on, each after a check. The thread that runs it reads requests;
 * {@link Http1Responses} reads responses on another one, so that both directions stream and
 * requests can be pipelined.
 */
final class Http1Proxy {
  private static final int PIECE = 16 * 1024;

  /** A larger body of a denied request is not read, and the connection is closed instead. */
  private static final int MAX_DRAINED = 1 << 20;

  private static final Pattern REQUEST_LINE =
      Pattern.compile("([^ ]{1,64}) ([^ ]+) HTTP/1\\.([01])");
  private static final Pattern ABSOLUTE = Pattern.compile("(?i)(https?)://([^/?#]+)(.*)");

  private final ProxiedConnection connection;
  private final RequestPolicy policy;
  private final HttpReader reader;
  private final Http1Responses responses;
  private final byte[] piece = new byte[PIECE];

  Http1Proxy(ProxiedConnection connection, RequestPolicy policy) {
    this.connection = connection;
    this.policy = policy;
    reader = new HttpReader(connection.client());
    responses = new Http1Responses(connection, policy.secrets());
  }

  /** Where the body of a request ends. */
  private record Framing(boolean chunked, OptionalLong length) {
    static Framing of(HttpHead head, boolean http10) throws MalformedHttpException {
      boolean chunked = HttpReader.isChunked(head);
      if (chunked && http10) {
        throw new MalformedHttpException("a request of HTTP/1.0 has a transfer encoding");
      }
      return new Framing(chunked, HttpReader.contentLength(head));
    }
  }

  /** Returns when the client or the server ended the connection and all responses are sent. */
  void run() throws IOException {
    try {
      while (reader.awaitByte() && serveOne()) {}
    } catch (MalformedHttpException e) {
      connection.observer().denied("", "", "malformed request: " + e.getMessage());
      responses.answer(Denial.badRequest(e.problem()).response(true, true), true);
    } catch (EOFException e) {
      // The client left within a request; its response may still be wanted.
    }
    responses.finish();
  }

  /** Serves a request. Returns false if no further one is read. */
  private boolean serveOne() throws IOException {
    HttpHead head;
    try (ConnectionMonitor.Deadline _ = connection.monitor().deadline(connection.limits().head())) {
      head = reader.head(HttpGate.MAX_HEAD);
    }
    Matcher line = REQUEST_LINE.matcher(head.startLine());
    if (!line.matches() || !HttpHead.isToken(line.group(1))) {
      throw new MalformedHttpException("the request line is invalid");
    }
    String method = line.group(1);
    boolean http10 = line.group(3).equals("0");
    Framing framing = Framing.of(head, http10);
    List<String> options = head.elements("connection");
    boolean last = options.contains("close") || (http10 && !options.contains("keep-alive"));
    boolean upgrade =
        !http10
            && options.contains("upgrade")
            && head.elements("upgrade").equals(List.of("websocket"))
            && !framing.chunked()
            && framing.length().orElse(0) == 0;
    RequestPolicy.Request request = request(head, method, line.group(2), upgrade);
    switch (policy.check(request, Denial.FORBIDDEN)) {
      case Decision.Deny deny -> {
        connection.observer().denied(method, request.path(), deny.denial().reason());
        return answer(deny.denial(), head, method, framing, last);
      }
      case Decision.Allow allow -> {
        PortDialing.Connection server;
        try {
          server = connection.upstream();
        } catch (IOException e) {
          Denial failed = Denial.badGateway(HttpGate.describe(e));
          connection.observer().failed(failed.reason());
          return answer(failed, head, method, framing, last);
        }
        return forward(server, request, allow, head, framing, last, upgrade, http10);
      }
    }
  }

  private RequestPolicy.Request request(
      HttpHead head, String method, String target, boolean upgrade) throws MalformedHttpException {
    List<String> hosts = head.values("host");
    if (hosts.size() != 1) {
      throw new MalformedHttpException("there is not exactly one Host header");
    }
    String authority = hosts.getFirst();
    Matcher absolute = ABSOLUTE.matcher(target);
    if (absolute.matches()) {
      boolean sameScheme = absolute.group(1).equalsIgnoreCase(connection.tls() ? "https" : "http");
      if (!sameScheme || !absolute.group(2).equalsIgnoreCase(authority)) {
        authority = ""; // Belongs to no host.
      }
      String rest = absolute.group(3);
      target = rest.startsWith("/") ? rest : "/" + rest;
    }
    return new RequestPolicy.Request(method, authority, target, endToEnd(head, upgrade));
  }

  /** Leaves out options of the connection that other servers on the way could understand. */
  private static List<Field> endToEnd(HttpHead head, boolean upgrade) {
    List<Field> fields = new ArrayList<>();
    for (Field field : head.fields()) {
      boolean dropped =
          field.is("connection")
              || field.is("keep-alive")
              || field.is("proxy-connection")
              || field.is("http2-settings")
              || field.is("te")
              || (field.is("upgrade") && !upgrade);
      if (!dropped) {
        fields.add(field);
      }
    }
    return fields;
  }

  /** Answers a request without the server. */
  private boolean answer(Denial denial, HttpHead head, String method, Framing framing, boolean last)
      throws IOException {
    boolean waits = !head.elements("expect").isEmpty();
    boolean close = last || waits || framing.length().orElse(0) > MAX_DRAINED;
    responses.answer(denial.response(!method.equals("HEAD"), close), close);
    return !close && drain(framing);
  }

  private boolean drain(Framing framing) throws IOException {
    long[] drained = new long[1];
    copyBody(
        framing,
        (bytes, length) -> {
          drained[0] += length;
          return drained[0] <= MAX_DRAINED;
        });
    return drained[0] <= MAX_DRAINED;
  }

  private boolean forward(
      PortDialing.Connection server,
      RequestPolicy.Request request,
      Decision.Allow allow,
      HttpHead head,
      Framing framing,
      boolean last,
      boolean upgrade,
      boolean http10)
      throws IOException {
    Http1Responses.Exchange exchange =
        new Http1Responses.Exchange(request.method(), request.path(), upgrade);
    responses.expect(exchange, server);
    try {
      write(server, requestHead(request.method(), allow, upgrade, last, http10));
      boolean encoded =
          head.elements("content-encoding").stream().anyMatch(c -> !c.equals("identity"));
      sendBody(server, framing, policy.secrets().requestBody(encoded));
    } catch (ServerWriteException e) {
      return false; // The server may have responded before it closed the connection.
    } catch (MalformedHttpException | EOFException e) {
      // The server must not take a part of a request for the whole.
      connection.observer().failed("incomplete request: " + e.getMessage());
      connection.monitor().close();
      return false;
    }
    if (upgrade && exchange.awaitUpgrade()) {
      tunnel(server);
      return false;
    }
    return !last;
  }

  private static byte[] requestHead(
      String method, Decision.Allow allow, boolean upgrade, boolean last, boolean http10) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
    bytes.writeBytes((method + " ").getBytes(ISO_8859_1));
    bytes.writeBytes(allow.target());
    bytes.writeBytes((http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n").getBytes(ISO_8859_1));
    List<Field> fields = new ArrayList<>(allow.fields());
    if (upgrade) {
      fields.add(Field.of("Connection", "Upgrade"));
    } else if (last) {
      fields.add(Field.of("Connection", "close"));
    } else if (http10) {
      fields.add(Field.of("Connection", "keep-alive"));
    }
    bytes.writeBytes(HttpHead.fieldBytes(fields));
    return bytes.toByteArray();
  }

  /** Receives pieces of a body. */
  private interface BodyReceiver {
    /** Returns whether to go on. */
    boolean accept(byte[] bytes, int length) throws IOException;
  }

  private void sendBody(PortDialing.Connection server, Framing framing, ByteSwapper swapper)
      throws IOException {
    if (!framing.chunked() && framing.length().orElse(0) == 0) {
      return;
    }
    SwappingSink sink =
        SwappingSink.ofRequest(
            swapper,
            bytes -> write(server, framing.chunked() ? chunk(bytes) : bytes),
            connection.monitor());
    Optional<List<Field>> trailers =
        copyBody(
            framing,
            (bytes, length) -> {
              sink.write(bytes, 0, length);
              return true;
            });
    sink.end();
    if (framing.chunked()) {
      ByteArrayOutputStream end = new ByteArrayOutputStream();
      end.writeBytes("0\r\n".getBytes(ISO_8859_1));
      end.writeBytes(
          HttpHead.fieldBytes(
              trailers.orElse(List.of()).stream().filter(policy::isSafeTrailer).toList()));
      write(server, end.toByteArray());
    }
  }

  /** Reads a body. Returns the fields after it if it was chunked and read to its end. */
  private Optional<List<Field>> copyBody(Framing framing, BodyReceiver receiver)
      throws IOException {
    if (!framing.chunked()) {
      copy(framing.length().orElse(0), receiver);
      return Optional.empty();
    }
    for (long size = reader.chunkSize(); size > 0; size = reader.chunkSize()) {
      if (!copy(size, receiver)) {
        return Optional.empty();
      }
      reader.chunkEnd();
    }
    return Optional.of(reader.trailers(HttpGate.MAX_HEAD));
  }

  private boolean copy(long length, BodyReceiver receiver) throws IOException {
    for (long left = length; left > 0; ) {
      int count = reader.read(piece, 0, (int) Math.min(piece.length, left));
      if (count < 0) {
        throw new EOFException("the client ended the connection within a request");
      }
      left -= count;
      if (!receiver.accept(piece, count)) {
        return false;
      }
    }
    return true;
  }

  private void tunnel(PortDialing.Connection server) throws IOException {
    try {
      for (int count = reader.read(piece, 0, PIECE);
          count >= 0;
          count = reader.read(piece, 0, PIECE)) {
        write(server, Arrays.copyOf(piece, count));
      }
      server.shutdownOutput();
    } catch (ServerWriteException e) {
      // The server ended the connection; what it sent is still passed on.
    }
  }

  static byte[] chunk(byte[] bytes) {
    ByteArrayOutputStream chunk = new ByteArrayOutputStream(bytes.length + 16);
    chunk.writeBytes((Integer.toHexString(bytes.length) + "\r\n").getBytes(ISO_8859_1));
    chunk.writeBytes(bytes);
    chunk.writeBytes("\r\n".getBytes(ISO_8859_1));
    return chunk.toByteArray();
  }

  /** The server does not accept more data. */
  private static final class ServerWriteException extends IOException {
    private static final long serialVersionUID = 1L;

    ServerWriteException(IOException cause) {
      super("the server does not accept more data", cause);
    }
  }

  private static void write(PortDialing.Connection server, byte[] bytes) throws IOException {
    try {
      ByteBuffer source = ByteBuffer.wrap(bytes);
      while (source.hasRemaining()) {
        server.write(source);
      }
    } catch (IOException e) {
      throw new ServerWriteException(e);
    }
  }
}
