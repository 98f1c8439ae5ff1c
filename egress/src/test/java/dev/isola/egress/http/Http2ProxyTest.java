package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.http.HttpHead.Field;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.HttpRule;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.eclipse.jetty.http.MetaData;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** HTTP/2 frame by frame, as a hostile client sends it. */
@Timeout(60)
class Http2ProxyTest {
  private static final String PLACEHOLDER = "isola-secret-0123456789";
  private static final String VALUE = "sk-live-/+=ABCDEFGHIJKL";
  private static final SandboxAuthority AUTHORITY =
      SandboxAuthority.create("test", InstantSource.system());
  private static TestUpstream upstream;
  private static HttpGate gate;

  private TestRelay relay;
  private SSLSocket socket;
  private ReadableByteChannel in;
  private HeaderEncoder encoder;
  private HeaderDecoder decoder;

  /** What this client may send on the connection, as far as it was granted. */
  private long credit;

  /** A response as far as it arrived. */
  private static final class Response {
    private int status;
    private final StringBuilder body = new StringBuilder();
    private final Map<String, String> fields = new HashMap<>();
    private Optional<Integer> reset = Optional.empty();
    private boolean ended;
  }

  @BeforeAll
  static void start() throws Exception {
    upstream = new TestUpstream(true, "api.example");
    gate =
        new HttpGate(
            UpstreamTrust.withAdditional(List.of(upstream.certificate())),
            new HttpGate.Limits(
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                Duration.ofSeconds(20),
                Duration.ofSeconds(1)));
  }

  @AfterAll
  static void stop() {
    upstream.close();
  }

  @BeforeEach
  void connect() throws Exception {
    TestRelay[] self = new TestRelay[1];
    HttpRule rule = new HttpRule(List.of(), Optional.of("/ok*"), Map.of(), Map.of());
    HttpRule count = new HttpRule(List.of(), Optional.of("/count"), Map.of(), Map.of());
    relay =
        new TestRelay(
            guest ->
                gate.serve(
                    guest,
                    new HttpGate.Target(
                        "api.example",
                        443,
                        List.of(rule, count),
                        List.of(
                            new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(VALUE), true)),
                        AUTHORITY),
                    () ->
                        SocketChannel.open(
                            new InetSocketAddress(
                                InetAddress.getLoopbackAddress(), upstream.port())),
                    self[0].observer()));
    self[0] = relay;
    socket =
        (SSLSocket)
            HttpGateTest.clientTls(AUTHORITY.certificatePem())
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), relay.port());
    socket.setSoTimeout(10_000);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
    in = Channels.newChannel(socket.getInputStream());
    encoder = new HeaderEncoder();
    decoder = new HeaderDecoder();
    socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
    send(Http2Frame.SETTINGS, 0, 0, new byte[0]);
  }

  @AfterEach
  void disconnect() throws IOException {
    socket.close();
    relay.close();
  }

  private void send(int type, int flags, int stream, byte[] payload) throws IOException {
    ByteBuffer frame = new Http2Frame(type, flags, stream, payload).toBytes();
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    socket.getOutputStream().write(bytes);
  }

  private static List<Field> head(String method, String authority, String path, String... more) {
    List<Field> fields = new ArrayList<>();
    fields.add(Field.of(":method", method));
    fields.add(Field.of(":scheme", "https"));
    fields.add(Field.of(":authority", authority));
    fields.add(Field.of(":path", path));
    for (int i = 0; i < more.length; i += 2) {
      fields.add(Field.of(more[i], more[i + 1]));
    }
    return fields;
  }

  private void request(int stream, boolean last, List<Field> fields) throws IOException {
    send(
        Http2Frame.HEADERS,
        Http2Frame.END_HEADERS | (last ? Http2Frame.END_STREAM : 0),
        stream,
        encoder.encode(fields));
  }

  /** Reads until a stream ends. */
  private Response response(int stream) throws Exception {
    Response response = new Response();
    while (!response.ended) {
      Http2Frame frame = Http2Frame.read(in).orElseThrow();
      switch (frame.type()) {
        case Http2Frame.SETTINGS -> {
          if (!frame.has(Http2Frame.ACK)) {
            send(Http2Frame.SETTINGS, Http2Frame.ACK, 0, new byte[0]);
          }
        }
        case Http2Frame.HEADERS -> {
          MetaData message = decoder.decode(HeaderDecoder.readBlock(frame, in));
          if (frame.stream() == stream) {
            HeaderDecoder.fields(message)
                .forEach(field -> response.fields.put(field.name(), field.text()));
          }
          if (frame.stream() == stream && message instanceof MetaData.Response head) {
            response.status = head.getStatus();
          }
        }
        case Http2Frame.DATA -> {
          if (frame.stream() == stream) {
            response.body.append(new String(frame.content(), ISO_8859_1));
          }
          if (frame.payload().length > 0) {
            send(
                Http2Frame.WINDOW_UPDATE,
                0,
                0,
                ByteBuffer.allocate(4).putInt(frame.payload().length).array());
          }
        }
        case Http2Frame.RST_STREAM -> {
          if (frame.stream() == stream) {
            response.reset = Optional.of(frame.intPayload());
            response.ended = true;
          }
        }
        case Http2Frame.WINDOW_UPDATE -> {
          if (frame.stream() == 0) {
            credit += frame.intPayload();
          }
        }
        case Http2Frame.GOAWAY ->
            throw new AssertionError("GOAWAY " + ByteBuffer.wrap(frame.payload()).getInt(4));
        default -> {}
      }
      if (frame.stream() == stream
          && (frame.type() == Http2Frame.DATA || frame.type() == Http2Frame.HEADERS)
          && frame.has(Http2Frame.END_STREAM)) {
        response.ended = true;
      }
    }
    return response;
  }

  /** Reads until the connection ends. Returns the error of the GOAWAY frame. */
  private int goAway() throws IOException {
    int code = -1;
    try {
      for (Optional<Http2Frame> frame = Http2Frame.read(in);
          frame.isPresent();
          frame = Http2Frame.read(in)) {
        if (frame.get().type() == Http2Frame.GOAWAY && code < 0) {
          code = ByteBuffer.wrap(frame.get().payload()).getInt(4);
        }
      }
    } catch (IOException closed) {
      // The proxy does not wait for the end of a client that breaks the protocol.
    }
    return code;
  }

  private void assertUsable(int stream) throws Exception {
    request(stream, true, head("GET", "api.example", "/ok"));
    assertThat(response(stream).status).isEqualTo(200);
  }

  @Test
  void requestForAnotherHostOnTheSameConnectionIsMisdirected() throws Exception {
    request(1, true, head("GET", "other.example", "/ok"));
    Response misdirected = response(1);
    assertThat(misdirected.status).isEqualTo(421);
    assertThat(misdirected.body).contains("another host");
    request(3, true, head("GET", "api.example", "/ok", "host", "other.example"));
    assertThat(response(3).status).isEqualTo(421);
    request(5, true, head("GET", "api.example:443", "/ok", "host", "api.example:443"));
    assertThat(response(5).status).isEqualTo(200);
    request(7, true, head("GET", "api.example", "/no"));
    assertThat(response(7).status).isEqualTo(403);
    request(9, true, head("HEAD", "api.example", "/no"));
    assertThat(response(9).status).isEqualTo(403);
    request(
        11, true, List.of(Field.of(":method", "CONNECT"), Field.of(":authority", "api.example")));
    assertThat(response(11).status).isEqualTo(403);
    assertUsable(13);
  }

  @Test
  void headersOfAConnectionAndMalformedOnesAreRefused() throws Exception {
    int stream = 1;
    for (List<Field> wrong :
        List.of(
            head("GET", "api.example", "/ok", "transfer-encoding", "chunked"),
            head("GET", "api.example", "/ok", "connection", "close"),
            head("GET", "api.example", "/ok", "upgrade", "websocket"),
            head("GET", "api.example", "/ok", "keep-alive", "1"),
            head("GET", "api.example", "/ok", "content-length", "1", "content-length", "1"),
            head("GET", "api.example", "/ok", "content-length", "+1"),
            head("GET", "api.example", "/ok", "a", "b\r\nc: d"),
            head("GET", "api.example", "/ok", "a b", "c"),
            head("GET", "api.example", "/ok", ":path", "/ok"),
            head("GET", "api.example", "/ok", ":unknown", "x"),
            head("GET", "api.example", "/ok /x"),
            head("GET", "api.example", "ok"),
            head("GET", "api.example", "https://api.example/ok"))) {
      request(stream, true, wrong);
      assertThat(response(stream).status).as(wrong.toString()).isIn(400, 403);
      assertUsable(stream + 2);
      stream += 4;
    }
    assertThat(relay.events()).filteredOn(event -> event.startsWith("denied")).hasSize(13);
  }

  @Test
  void dataOfDeniedStreamsGivesItsCreditBack() throws Exception {
    assertUsable(1);
    long before = credit;
    byte[] data = new byte[16_000];
    for (int stream = 3; stream < 41; stream += 2) {
      request(stream, false, head("POST", "api.example", "/no"));
      for (int i = 0; i < 3; i++) {
        send(Http2Frame.DATA, 0, stream, data);
      }
      assertThat(response(stream).status).isEqualTo(403);
    }
    assertUsable(41);
    assertThat(credit - before).isEqualTo(19 * 3 * 16_000);
    request(43, false, head("POST", "api.example", "/count"));
    send(Http2Frame.DATA, Http2Frame.END_STREAM, 43, data);
    assertThat(response(43).body).asString().isEqualTo("16000");
  }

  @Test
  void paddingAndPriorityAreUnderstood() throws Exception {
    byte[] block = encoder.encode(head("POST", "api.example", "/ok"));
    ByteBuffer payload = ByteBuffer.allocate(1 + 5 + block.length + 7);
    payload.put((byte) 7).put(new byte[5]).put(block);
    send(
        Http2Frame.HEADERS,
        Http2Frame.END_HEADERS | Http2Frame.PADDED | Http2Frame.HAS_PRIORITY,
        1,
        payload.array());
    byte[] text = PLACEHOLDER.getBytes(ISO_8859_1);
    for (byte one : text) {
      send(Http2Frame.DATA, Http2Frame.PADDED, 1, new byte[] {3, one, 0, 0, 0});
    }
    send(Http2Frame.DATA, Http2Frame.END_STREAM, 1, new byte[0]);
    assertThat(response(1).body.toString()).endsWith("\n\n" + PLACEHOLDER);
    request(3, false, head("POST", "api.example", "/ok"));
    send(Http2Frame.DATA, Http2Frame.PADDED, 3, new byte[] {5, 0, 0});
    assertThat(goAway()).isEqualTo(Http2Frame.PROTOCOL_ERROR);
  }

  @Test
  void trailersArePassedOnWithoutThoseThatRulesCheck() throws Exception {
    request(1, false, head("POST", "api.example", "/ok"));
    send(Http2Frame.DATA, 0, 1, "isola-secret".getBytes(ISO_8859_1));
    request(1, true, List.of(Field.of("authorization", "x"), Field.of("x-sum", "1")));
    assertThat(response(1).body.toString())
        .as("held bytes precede the end")
        .endsWith("\n\nisola-secret");
    assertUsable(3);
  }

  @Test
  void secretIsMaskedWhereAResponseEndsInsideIt() throws Exception {
    int stream = 1;
    for (int length = 1; length <= VALUE.length(); length++) {
      request(stream, true, head("GET", "api.example", "/ok/cut/" + length, "x-key", PLACEHOLDER));
      Response response = response(stream);
      String masked = (length <= 4 ? VALUE : PLACEHOLDER).substring(0, length);
      assertThat(response.body).asString().isEqualTo(masked);
      assertThat(response.fields).containsEntry("x-cut", masked).containsEntry("x-trailer", masked);
      stream += 2;
    }
  }

  @Test
  void clientCannotChooseTheFormOfAResponseWithASecret() throws Exception {
    request(
        1,
        true,
        head(
            "GET",
            "api.example",
            "/ok",
            "range",
            "bytes=0-9",
            "accept-encoding",
            "gzip",
            "te",
            "trailers",
            "grpc-accept-encoding",
            "gzip",
            "accept",
            "text/plain"));
    assertThat(response(1).body.toString())
        .contains("\naccept-encoding: identity\n", "\nte: trailers\n", "\naccept: text/plain\n")
        .doesNotContain("range", "gzip");
    request(3, true, head("GET", "api.example", "/ok/status/206"));
    Response partial = response(3);
    assertThat(partial.status).isEqualTo(502);
    assertThat(partial.body).contains("cannot be searched for secrets");
    assertUsable(5);
  }

  @Test
  void bodyOfAnotherLengthThanAnnouncedIsReset() throws Exception {
    request(1, false, head("POST", "api.example", "/count", "content-length", "5"));
    send(Http2Frame.DATA, Http2Frame.END_STREAM, 1, "hello".getBytes(ISO_8859_1));
    assertThat(response(1).body).asString().isEqualTo("5");
    request(3, false, head("POST", "api.example", "/count", "content-length", "5"));
    send(Http2Frame.DATA, Http2Frame.END_STREAM, 3, "hello!".getBytes(ISO_8859_1));
    assertThat(response(3).reset).isPresent();
    assertUsable(5);
  }

  @Test
  void floodOfContinuationsEndsTheConnection() throws Exception {
    byte[] block = encoder.encode(head("GET", "api.example", "/ok"));
    send(Http2Frame.HEADERS, Http2Frame.END_STREAM, 1, Arrays.copyOf(block, 10));
    send(
        Http2Frame.CONTINUATION,
        Http2Frame.END_HEADERS,
        1,
        Arrays.copyOfRange(block, 10, block.length));
    assertThat(response(1).status).as("control").isEqualTo(200);
    send(
        Http2Frame.HEADERS,
        Http2Frame.END_STREAM,
        3,
        encoder.encode(head("GET", "api.example", "/ok")));
    try {
      for (int i = 0; i < 1000; i++) {
        send(Http2Frame.CONTINUATION, 0, 3, new byte[0]);
      }
    } catch (IOException closed) {
      // The proxy closed the connection while this client writes.
    }
    assertThat(goAway()).isEqualTo(Http2Frame.ENHANCE_YOUR_CALM);
  }

  @Test
  void largeHeadersAndSmallBlocksThatExpandAreRefused() throws Exception {
    request(1, true, head("GET", "api.example", "/ok", "a", "x".repeat(10_000)));
    assertThat(response(1).status).as("control").isEqualTo(200);
    // One entry of 4,000 bytes in the table, and a thousand references to it.
    ByteBuffer bomb = ByteBuffer.allocate(16_000);
    bomb.put((byte) 0x3f).put(new byte[] {(byte) 0xe1, 0x1f}); // a table of 4,096 bytes again
    bomb.put(encoder.encode(head("GET", "api.example", "/ok")));
    byte[] value = new byte[4000];
    Arrays.fill(value, (byte) 'x');
    bomb.put((byte) 0x40).put((byte) 1).put((byte) 'a');
    bomb.put((byte) 0x7f)
        .put((byte) (0x80 | ((4000 - 127) & 0x7f)))
        .put((byte) ((4000 - 127) >> 7));
    bomb.put(value);
    for (int i = 0; i < 1000; i++) {
      bomb.put((byte) (0x80 | 62));
    }
    send(
        Http2Frame.HEADERS,
        Http2Frame.END_HEADERS | Http2Frame.END_STREAM,
        3,
        Arrays.copyOf(bomb.array(), bomb.position()));
    assertThat(goAway()).isEqualTo(Http2Frame.COMPRESSION_ERROR);
  }

  @Test
  void rapidResetsEndTheConnection() throws Exception {
    try {
      for (int i = 0; i < 600; i++) {
        request(2 * i + 1, true, head("GET", "api.example", "/no"));
        send(Http2Frame.RST_STREAM, 0, 2 * i + 1, new byte[] {0, 0, 0, 8});
      }
    } catch (IOException closed) {
      // The proxy closed the connection while this client writes.
    }
    goAway();
    assertThat(relay.events().toString()).contains("resets too many streams");
  }

  @Test
  void streamsBeyondTheLimitAreRefusedAndOthersGoOn() throws Exception {
    for (int i = 0; i < 140; i++) {
      request(2 * i + 1, false, head("POST", "api.example", "/count"));
    }
    Response refused = response(2 * 139 + 1);
    assertThat(refused.reset).hasValue(Http2Frame.REFUSED_STREAM);
    send(Http2Frame.DATA, Http2Frame.END_STREAM, 1, new byte[3]);
    assertThat(response(1).body).asString().isEqualTo("3");
  }

  @Test
  void targetArrivesAsItWasChecked() throws Exception {
    int stream = 1;
    for (String path :
        List.of(
            "/ok;a=b/c;d?x=%2F&y=/../z//", "/ok?", "/ok%41%c3%a4", "/ok?a=b?c;d", "/ok/a%20b")) {
      request(stream, true, head("GET", "api.example", path));
      assertThat(response(stream).body.toString()).startsWith("HTTP/2.0 GET " + path + "\n");
      stream += 2;
    }
    request(stream, true, head("GET", "api.example", "/ok#x"));
    assertThat(response(stream).status).isIn(400, 403);
  }

  @Test
  void brokenFramesEndTheConnection() throws Exception {
    assertUsable(1);
    send(Http2Frame.PUSH_PROMISE, Http2Frame.END_HEADERS, 3, new byte[4]);
    assertThat(goAway()).isEqualTo(Http2Frame.PROTOCOL_ERROR);
  }

  @Test
  void unfinishedHeadersHaveADeadline() throws Exception {
    send(Http2Frame.HEADERS, 0, 1, encoder.encode(head("GET", "api.example", "/ok")));
    goAway();
    Awaitility.await()
        .untilAsserted(() -> assertThat(relay.events().toString()).contains("failed"));
  }
}
