package dev.isola.egress.http;

import static dev.isola.egress.http.ProxyFixture.require;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.MetaData;

/**
 * A guest process sends the input as frames of HTTP/2. What arrives at the server are well-formed
 * frames, each request in them is one that the rule allows, and a body has the announced length.
 */
public final class Http2RequestFuzz {
  static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private Http2RequestFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (ProxyFixture.knowsSecret(input)) {
      return;
    }
    MemoryConnection server = new MemoryConnection(_ -> {});
    MemoryConnection client = new MemoryConnection(_ -> {});
    client.supply(PREFACE);
    client.supply(input);
    client.end();
    try {
      ProxyFixture.serve(client, server, true);
    } catch (IOException e) {
      // How a connection may end.
    }
    ProxyFixture.requireSecretAbsent(client.written());
    requireRequests(server.written());
  }

  private static void requireRequests(byte[] sent) throws IOException {
    ReadableByteChannel in = Channels.newChannel(new ByteArrayInputStream(sent));
    in.read(ByteBuffer.allocate(PREFACE.length));
    HeaderDecoder decoder = new HeaderDecoder();
    Map<Integer, Long> announced = new HashMap<>();
    Map<Integer, Long> received = new HashMap<>();
    int last = 0;
    for (Optional<Http2Frame> next = Http2Frame.read(in);
        next.isPresent();
        next = Http2Frame.read(in)) {
      Http2Frame frame = next.get();
      int id = frame.stream();
      boolean end = frame.has(Http2Frame.END_STREAM);
      if (frame.type() == Http2Frame.HEADERS) {
        MetaData message = decode(decoder, HeaderDecoder.readBlock(frame, in));
        if (message instanceof MetaData.Request request) {
          require(id > last && id % 2 == 1, "stream " + id + " after " + last);
          last = id;
          ProxyFixture.requireAllowed(
              request.getMethod(),
              request.getHttpURI().getPathQuery(),
              request.getHttpFields().stream().toList());
          require(
              ProxyFixture.HOST.equalsIgnoreCase(request.getHttpURI().getHost()), "another host");
          requireLengths(request);
          announced.put(id, request.getContentLength());
          received.put(id, 0L);
        } else {
          require(end && announced.containsKey(id), "trailers within a request");
        }
        requireLength(end, announced.getOrDefault(id, -1L), received.getOrDefault(id, 0L), in);
      } else if (frame.type() == Http2Frame.DATA) {
        require(announced.containsKey(id), "data on a stream that was not opened");
        received.merge(id, (long) frame.content().length, Long::sum);
        requireLength(end, announced.getOrDefault(id, -1L), received.getOrDefault(id, 0L), in);
      }
    }
  }

  private static MetaData decode(HeaderDecoder decoder, byte[] block) throws IOException {
    try {
      return decoder.decode(block);
    } catch (HeaderDecoder.MalformedHeadersException e) {
      throw new AssertionError("the server gets a malformed request: " + e.problem(), e);
    }
  }

  private static void requireLengths(MetaData.Request request) {
    List<String> lengths = request.getHttpFields().getValuesList("content-length");
    require(lengths.size() <= 1, "several lengths");
  }

  /** A request of another length is reset after its end. */
  private static void requireLength(
      boolean end, Long announced, Long received, ReadableByteChannel in) throws IOException {
    if (end && announced >= 0 && !announced.equals(received)) {
      Optional<Http2Frame> reset = Http2Frame.read(in);
      require(
          reset.isPresent() && reset.get().type() == Http2Frame.RST_STREAM,
          "a body of " + received + " bytes instead of " + announced);
    }
  }
}
