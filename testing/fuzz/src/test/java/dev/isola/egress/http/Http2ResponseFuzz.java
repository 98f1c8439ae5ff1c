package dev.isola.egress.http;

import static dev.isola.egress.http.ProxyFixture.require;

import dev.isola.codec.http.HttpHead.Field;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.MetaData;

/**
 * A server answers a request with the input as frames of HTTP/2. What arrives at the client are
 * well-formed frames of its stream, and the secret is not among them.
 */
public final class Http2ResponseFuzz {
  private Http2ResponseFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    AtomicBoolean answered = new AtomicBoolean();
    MemoryConnection client = new MemoryConnection(_ -> {});
    MemoryConnection[] self = new MemoryConnection[1];
    MemoryConnection server =
        new MemoryConnection(
            bytes -> {
              // After the preface, the settings of the client and its request.
              if (bytes.remaining() > 3
                  && bytes.get(bytes.position() + 3) == Http2Frame.HEADERS
                  && answered.compareAndSet(false, true)) {
                self[0].supply(input);
                self[0].end();
              }
            });
    self[0] = server;
    client.supply(Http2RequestFuzz.PREFACE);
    client.supply(request());
    try {
      ProxyFixture.serve(client, server, true);
    } catch (IOException e) {
      // How a connection may end.
    }
    requireResponses(client.written());
  }

  private static byte[] request() throws IOException {
    MemoryConnection out = new MemoryConnection(_ -> {});
    new Http2Output(out)
        .writeHeaders(
            1,
            List.of(
                Field.of(":method", "GET"),
                Field.of(":scheme", "https"),
                Field.of(":authority", ProxyFixture.HOST),
                Field.of(":path", "/v1/x")),
            true);
    return out.written();
  }

  private static void requireResponses(byte[] received) throws IOException {
    ReadableByteChannel in = Channels.newChannel(new ByteArrayInputStream(received));
    HeaderDecoder decoder = new HeaderDecoder();
    boolean ended = false;
    for (Optional<Http2Frame> next = Http2Frame.read(in);
        next.isPresent();
        next = Http2Frame.read(in)) {
      Http2Frame frame = next.get();
      if (frame.type() == Http2Frame.HEADERS) {
        require(frame.stream() == 1 && !ended, "headers after the end, or on another stream");
        ended = frame.has(Http2Frame.END_STREAM);
        MetaData message = decode(decoder, HeaderDecoder.readBlock(frame, in));
        for (Field field : HeaderDecoder.fields(message)) {
          ProxyFixture.requireSecretAbsent(field.value());
        }
      } else if (frame.type() == Http2Frame.DATA) {
        require(frame.stream() == 1 && !ended, "data after the end, or on another stream");
        ended = frame.has(Http2Frame.END_STREAM);
        ProxyFixture.requireSecretAbsent(frame.content());
      }
    }
  }

  private static MetaData decode(HeaderDecoder decoder, byte[] block) throws IOException {
    try {
      return decoder.decode(block);
    } catch (HeaderDecoder.MalformedHeadersException e) {
      throw new AssertionError("the client gets a malformed response: " + e.problem(), e);
    }
  }
}
