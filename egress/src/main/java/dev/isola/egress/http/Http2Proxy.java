package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.http.HttpHead.Field;
import dev.isola.egress.http.HeaderDecoder.MalformedHeadersException;
import dev.isola.egress.http.Http2Frame.ConnectionErrorException;
import dev.isola.egress.http.RequestPolicy.Decision;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.MetaData;

/**
 * Passes HTTP/2 on, frame by frame. Each request is checked, whatever connection it is sent on:
 * clients use one connection for several hosts. Header blocks are decoded and encoded again; bodies
 * keep their length, so flow control is between the client and the server, and the proxy corrects
 * it only for what it adds or removes.
 *
 * <p>The thread that runs it reads from the client, another one from the server. Nothing is queued:
 * a side that does not read stops the other one.
 */
final class Http2Proxy {
  private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
  private static final int DEFAULT_WINDOW = 65_535;

  /** Streams that a client may reset in {@link #RESET_PERIOD}. */
  private static final int MAX_RESETS = 500;

  private static final long RESET_PERIOD = 30_000_000_000L;

  private final ProxiedConnection connection;
  private final RequestPolicy policy;
  private final SecretSubstitution secrets;
  private final PortDialing.Connection server;
  private final Http2Output toClient;
  private final Http2Output toServer;
  private final HeaderDecoder requestDecoder = new HeaderDecoder();
  private final HeaderDecoder responseDecoder = new HeaderDecoder();
  private final Http2Settings clientSettings = new Http2Settings(true);
  private final Http2Settings serverSettings = new Http2Settings(false);

  /** Requests that were passed on and did not end on both sides. */
  private final Map<Integer, Stream> streams = new ConcurrentHashMap<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition windowGrown = lock.newCondition();

  /** How much the client accepts on the connection. */
  private long clientWindow = DEFAULT_WINDOW;

  /** Credit of the client for responses of the proxy, which the server must not get. */
  private long debt;

  private volatile int initialWindow = DEFAULT_WINDOW;
  private volatile boolean ended;
  private int lastStream;
  private int resets;
  private long resetsSince = System.nanoTime();

  /** A request that was passed on. */
  private static final class Stream {
    private final String method;
    private final String path;
    private final long announced;
    private final SwappingSink request;
    private final SwappingSink response;
    private long received;
    private boolean responded;
    private volatile boolean clientEnded;
    private volatile boolean serverEnded;

    private Stream(
        RequestPolicy.Request head, long announced, SwappingSink request, SwappingSink response) {
      method = head.method();
      path = head.path();
      this.announced = announced;
      this.request = request;
      this.response = response;
    }
  }

  /** Handles a frame. */
  private interface Handler {
    void handle(Http2Frame frame) throws IOException;
  }

  Http2Proxy(ProxiedConnection connection, RequestPolicy policy) throws IOException {
    this.connection = connection;
    this.policy = policy;
    secrets = policy.secrets();
    server = connection.upstream();
    toClient = new Http2Output(connection.client());
    toServer = new Http2Output(server);
  }

  /** Returns when one side ended the connection. */
  void run() throws IOException {
    ByteBuffer preface = ByteBuffer.allocate(PREFACE.length);
    try (ConnectionMonitor.Deadline _ = connection.monitor().deadline(connection.limits().head())) {
      while (preface.hasRemaining() && connection.client().read(preface) >= 0) {}
    }
    if (!Arrays.equals(preface.array(), PREFACE)) {
      connection
          .observer()
          .denied("", "", "the client negotiated HTTP/2 and speaks another protocol");
      return;
    }
    toServer.write(ByteBuffer.wrap(PREFACE));
    Thread.startVirtualThread(
        () -> {
          relay(server, this::fromServer);
          connection.client().shutdownOutput();
          // The thread that reads from the client ends by this.
          connection.monitor().deadline(connection.limits().linger());
        });
    relay(connection.client(), this::fromClient);
    connection.client().shutdownOutput();
    connection.monitor().close();
  }

  private void relay(PortDialing.Connection from, Handler handler) {
    try {
      Optional<Http2Frame> frame = Http2Frame.read(from);
      while (frame.isPresent() && !ended) {
        handler.handle(frame.get());
        frame = Http2Frame.read(from);
      }
    } catch (ConnectionErrorException e) {
      connection.observer().failed("HTTP/2: " + e.getMessage());
      goAway(e.code());
    } catch (IOException e) {
      if (!ended) {
        connection.observer().failed(HttpGate.describe(e));
      }
    } finally {
      end();
    }
  }

  private void end() {
    lock.lock();
    try {
      ended = true;
      windowGrown.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void goAway(int code) {
    try {
      byte[] payload = ByteBuffer.allocate(8).putInt(lastStream).putInt(code).array();
      toClient.write(new Http2Frame(Http2Frame.GOAWAY, 0, 0, payload));
    } catch (IOException e) {
      connection.monitor().close(); // The client is gone.
    }
  }

  private void fromClient(Http2Frame frame) throws IOException {
    switch (frame.type()) {
      case Http2Frame.DATA -> requestData(frame);
      case Http2Frame.HEADERS -> {
        byte[] block;
        try (ConnectionMonitor.Deadline _ =
            connection.monitor().deadline(connection.limits().head())) {
          block = HeaderDecoder.readBlock(frame, connection.client());
        }
        requestHeaders(frame.stream(), block, frame.has(Http2Frame.END_STREAM));
      }
      case Http2Frame.RST_STREAM -> {
        countReset();
        if (cancel(frame.stream())) {
          toServer.write(frame);
        }
      }
      case Http2Frame.SETTINGS -> {
        if (frame.has(Http2Frame.ACK)) {
          toServer.write(frame);
        } else {
          Http2Frame changed = clientSettings.change(frame);
          initialWindow = clientSettings.initialWindow().orElse(DEFAULT_WINDOW);
          toServer.write(changed);
        }
      }
      case Http2Frame.PING -> toServer.write(frame);
      case Http2Frame.GOAWAY -> toServer.write(withoutDebugData(frame));
      case Http2Frame.WINDOW_UPDATE -> {
        if (frame.stream() == 0) {
          connectionWindow(frame.intPayload());
        } else if (streams.containsKey(frame.stream())) {
          toServer.write(frame);
        }
      }
      case Http2Frame.PUSH_PROMISE, Http2Frame.CONTINUATION ->
          throw Http2Frame.protocolError("a frame of type " + frame.type() + " is unexpected");
      default -> {} // Priorities, and extensions that were not agreed on.
    }
  }

  private void fromServer(Http2Frame frame) throws IOException {
    switch (frame.type()) {
      case Http2Frame.DATA -> responseData(frame);
      case Http2Frame.HEADERS ->
          responseHeaders(
              frame.stream(),
              HeaderDecoder.readBlock(frame, server),
              frame.has(Http2Frame.END_STREAM));
      case Http2Frame.RST_STREAM -> {
        if (cancel(frame.stream())) {
          toClient.write(frame);
        }
      }
      case Http2Frame.SETTINGS ->
          toClient.write(frame.has(Http2Frame.ACK) ? frame : serverSettings.change(frame));
      case Http2Frame.PING -> toClient.write(frame);
      case Http2Frame.GOAWAY -> toClient.write(withoutDebugData(frame));
      case Http2Frame.WINDOW_UPDATE -> {
        if (frame.stream() == 0 || streams.containsKey(frame.stream())) {
          toClient.write(frame);
        }
      }
      case Http2Frame.PUSH_PROMISE, Http2Frame.CONTINUATION ->
          throw Http2Frame.protocolError("a frame of type " + frame.type() + " is unexpected");
      default -> {} // Extensions that were not agreed on.
    }
  }

  private static Http2Frame withoutDebugData(Http2Frame frame) {
    return new Http2Frame(Http2Frame.GOAWAY, 0, 0, Arrays.copyOf(frame.payload(), 8));
  }

  private void countReset() throws ConnectionErrorException {
    long now = System.nanoTime();
    if (now - resetsSince > RESET_PERIOD) {
      resetsSince = now;
      resets = 0;
    }
    if (++resets > MAX_RESETS) {
      throw new ConnectionErrorException(
          Http2Frame.ENHANCE_YOUR_CALM, "the client resets too many streams");
    }
  }

  private void connectionWindow(int increment) throws IOException {
    long passed;
    lock.lock();
    try {
      clientWindow += increment;
      long kept = Math.min(debt, increment);
      debt -= kept;
      passed = increment - kept;
      windowGrown.signalAll();
    } finally {
      lock.unlock();
    }
    toServer.giveBack(0, (int) passed);
  }

  private void requestHeaders(int id, byte[] block, boolean last) throws IOException {
    MetaData message;
    try {
      message = requestDecoder.decode(block);
    } catch (MalformedHeadersException e) {
      verifyId(id);
      deny(
          id,
          new RequestPolicy.Request("", "", "", List.of()),
          Denial.badRequest(e.problem()),
          last);
      return;
    }
    Stream known = streams.get(id);
    if (known != null) {
      requestTrailers(id, known, message, last);
      return;
    }
    if (id <= lastStream && id % 2 == 1) {
      return; // Of a stream that was answered or reset meanwhile.
    }
    verifyId(id);
    if (streams.size() >= Http2Settings.MAX_STREAMS) {
      toClient.reset(id, Http2Frame.REFUSED_STREAM);
      return;
    }
    if (!(message instanceof MetaData.Request head)) {
      throw Http2Frame.protocolError("a request has no method");
    }
    RequestPolicy.Request request = request(head);
    Decision decision = decide(head, request);
    switch (decision) {
      case Decision.Deny deny -> deny(id, request, deny.denial(), last);
      case Decision.Allow allow -> forward(id, request, allow, last);
    }
  }

  private void verifyId(int id) throws ConnectionErrorException {
    if (id % 2 == 0 || id <= lastStream) {
      throw Http2Frame.protocolError("the number of a stream is invalid");
    }
    lastStream = id;
  }

  private static RequestPolicy.Request request(MetaData.Request head) {
    List<Field> fields = HeaderDecoder.fields(head);
    String host = head.getHttpURI().getHost();
    int port = head.getHttpURI().getPort();
    String authority = host == null ? "" : port > 0 ? host + ":" + port : host;
    for (Field field : fields) {
      if (field.is("host")) {
        authority =
            authority.isEmpty() || authority.equalsIgnoreCase(field.text()) ? field.text() : "";
      }
    }
    HttpURI uri = head.getHttpURI();
    String target = Optional.ofNullable(uri.getPathQuery()).orElse("");
    if (uri.getFragment() != null) {
      target += "#"; // Is refused.
    }
    return new RequestPolicy.Request(
        head.getMethod(),
        authority,
        target,
        fields.stream().filter(field -> !field.is("host")).toList());
  }

  private Decision decide(MetaData.Request head, RequestPolicy.Request request) {
    if (!"https".equals(head.getHttpURI().getScheme()) && !request.method().equals("CONNECT")) {
      return new Decision.Deny(Denial.badRequest("the scheme of the request is not https"));
    }
    for (Field field : request.fields()) {
      boolean ofConnection =
          HttpRuleMatcher.isReserved(field.name())
              && !field.is("te")
              && !field.is("trailer")
              && !field.is("expect")
              && !field.is("content-length");
      if (ofConnection) {
        return new Decision.Deny(
            Denial.badRequest("header '" + field.name() + "' is not allowed in HTTP/2"));
      }
    }
    List<Field> lengths = request.fields().stream().filter(f -> f.is("content-length")).toList();
    if (lengths.size() > 1
        || lengths.stream().anyMatch(length -> !length.text().matches("[0-9]{1,18}"))) {
      return new Decision.Deny(
          Denial.badRequest("there is more than one length, or an invalid one"));
    }
    return policy.check(request, Denial.MISDIRECTED);
  }

  private void forward(int id, RequestPolicy.Request request, Decision.Allow allow, boolean last)
      throws IOException {
    List<Field> fields = new ArrayList<>();
    fields.add(Field.of(":method", request.method()));
    fields.add(Field.of(":scheme", "https"));
    fields.add(Field.of(":authority", request.authority()));
    fields.add(new Field(":path", allow.target()));
    fields.addAll(allow.fields());
    boolean encoded =
        request.fields().stream()
            .anyMatch(f -> f.is("content-encoding") && !f.text().equalsIgnoreCase("identity"));
    long announced =
        request.fields().stream()
            .filter(field -> field.is("content-length"))
            .mapToLong(field -> Long.parseLong(field.text()))
            .findFirst()
            .orElse(-1);
    Stream stream =
        new Stream(
            request,
            announced,
            SwappingSink.ofRequest(
                secrets.requestBody(encoded),
                bytes -> toServer.writeData(id, bytes, false),
                connection.monitor()),
            SwappingSink.ofResponse(
                secrets.responseBody(), bytes -> sendData(id, bytes), connection.monitor()));
    stream.clientEnded = last;
    streams.put(id, stream);
    toServer.writeHeaders(id, fields, last);
    if (last) {
      verifyLength(id, stream);
    }
  }

  /** Answers a request without the server. */
  private void deny(int id, RequestPolicy.Request request, Denial denial, boolean last)
      throws IOException {
    connection.observer().denied(request.method(), request.path(), denial.reason());
    respond(id, request.method(), denial);
    if (!last) {
      toClient.reset(id, Http2Frame.NO_ERROR);
    }
  }

  private void respond(int id, String method, Denial denial) throws IOException {
    byte[] body = denial.body();
    boolean withBody =
        !method.equals("HEAD") && body.length <= initialWindow && borrow(body.length);
    List<Field> fields = new ArrayList<>();
    fields.add(Field.of(":status", Integer.toString(denial.status())));
    fields.addAll(denial.fields(withBody ? body.length : 0));
    toClient.writeHeaders(id, fields, !withBody);
    if (withBody) {
      toClient.writeData(id, body, true);
    }
  }

  /**
   * Uses credit of the client for a response of the proxy. Returns false if there is too little.
   */
  private boolean borrow(int bytes) {
    lock.lock();
    try {
      if (clientWindow < bytes) {
        return false;
      }
      clientWindow -= bytes;
      debt += bytes;
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void requestTrailers(int id, Stream stream, MetaData message, boolean last)
      throws IOException {
    if (!last || stream.clientEnded || message.isRequest() || message.isResponse()) {
      throw Http2Frame.protocolError("header fields within a body");
    }
    stream.request.end();
    List<Field> trailers =
        HeaderDecoder.fields(message).stream().filter(policy::isSafeTrailer).toList();
    if (trailers.isEmpty()) {
      toServer.writeData(id, new byte[0], true);
    } else {
      toServer.writeHeaders(id, trailers, true);
    }
    stream.clientEnded = true;
    verifyLength(id, stream);
    removeIfEnded(id, stream);
  }

  private void requestData(Http2Frame frame) throws IOException {
    int id = frame.stream();
    Stream stream = streams.get(id);
    if (id > lastStream) {
      throw Http2Frame.protocolError("data on a stream that was not opened");
    }
    if (stream == null || stream.clientEnded) {
      toClient.giveBack(0, frame.payload().length);
      return;
    }
    byte[] data = frame.content();
    int padding = frame.payload().length - data.length;
    stream.received += data.length;
    stream.request.write(data, 0, data.length);
    if (frame.has(Http2Frame.END_STREAM)) {
      stream.request.end();
      toServer.writeData(id, new byte[0], true);
      stream.clientEnded = true;
      verifyLength(id, stream);
      removeIfEnded(id, stream);
    } else {
      toClient.giveBack(id, padding);
    }
    toClient.giveBack(0, padding);
  }

  /** A server that passes a request on by HTTP/1.1 must not get another length than announced. */
  private void verifyLength(int id, Stream stream) throws IOException {
    if (stream.announced >= 0 && stream.announced != stream.received && cancel(id)) {
      connection
          .observer()
          .denied(stream.method, stream.path, "the body is not as long as its header says");
      toServer.reset(id, Http2Frame.PROTOCOL_ERROR);
      toClient.reset(id, Http2Frame.PROTOCOL_ERROR);
    }
  }

  /** Forgets a stream and gives back the credit for what was held. False if it is unknown. */
  private boolean cancel(int id) throws IOException {
    Stream stream = streams.remove(id);
    if (stream == null) {
      return false;
    }
    toClient.giveBack(0, stream.request.discard());
    toServer.giveBack(0, stream.response.discard());
    return true;
  }

  private void removeIfEnded(int id, Stream stream) {
    if (stream.clientEnded && stream.serverEnded) {
      streams.remove(id, stream);
    }
  }

  private void responseHeaders(int id, byte[] block, boolean last) throws IOException {
    MetaData message;
    try {
      message = responseDecoder.decode(block);
    } catch (MalformedHeadersException e) {
      Stream stream = streams.get(id);
      if (stream != null) {
        replace(id, stream, "the response of the server is malformed");
      }
      return;
    }
    Stream stream = streams.get(id);
    if (stream == null) {
      return;
    }
    List<Field> fields = HeaderDecoder.fields(message);
    if (!(message instanceof MetaData.Response head)) {
      if (!last || message.isRequest()) {
        throw Http2Frame.protocolError("header fields within a response");
      }
      stream.response.end();
      toClient.writeHeaders(id, secrets.mask(fields), true);
      endResponse(id, stream);
      return;
    }
    boolean interim = head.getStatus() < 200;
    boolean bodiless = last || stream.method.equals("HEAD") || head.getStatus() == 304;
    if (!interim && !bodiless && secrets.masksResponses()) {
      Optional<String> problem = ResponseForm.problem(head.getStatus(), fields);
      if (problem.isPresent()) {
        replace(id, stream, problem.get());
        return;
      }
    }
    if (!interim && !stream.responded) {
      stream.responded = true;
      connection.observer().allowed(stream.method, stream.path, head.getStatus());
    }
    List<Field> all = new ArrayList<>();
    all.add(Field.of(":status", Integer.toString(head.getStatus())));
    all.addAll(secrets.mask(fields));
    toClient.writeHeaders(id, all, last);
    if (last) {
      endResponse(id, stream);
    }
  }

  /** Answers in place of the server, whose response is not passed on. */
  private void replace(int id, Stream stream, String problem) throws IOException {
    if (!cancel(id)) {
      return;
    }
    connection.observer().failed(problem);
    toServer.reset(id, Http2Frame.CANCEL);
    if (stream.responded) {
      toClient.reset(id, Http2Frame.PROTOCOL_ERROR);
      return;
    }
    respond(id, stream.method, Denial.badGateway(problem));
    if (!stream.clientEnded) {
      toClient.reset(id, Http2Frame.NO_ERROR);
    }
  }

  private void responseData(Http2Frame frame) throws IOException {
    int id = frame.stream();
    Stream stream = streams.get(id);
    if (stream == null || stream.serverEnded) {
      toServer.giveBack(0, frame.payload().length);
      return;
    }
    byte[] data = frame.content();
    int padding = frame.payload().length - data.length;
    stream.response.write(data, 0, data.length);
    if (frame.has(Http2Frame.END_STREAM)) {
      stream.response.end();
      toClient.writeData(id, new byte[0], true);
      endResponse(id, stream);
    } else {
      toServer.giveBack(id, padding);
    }
    toServer.giveBack(0, padding);
  }

  private void endResponse(int id, Stream stream) {
    stream.serverEnded = true;
    removeIfEnded(id, stream);
  }

  /**
   * Sends data of the server within the window of the client. The server keeps to it by itself,
   * except for what the proxy borrowed.
   */
  private void sendData(int id, byte[] bytes) throws IOException {
    lock.lock();
    try {
      while (clientWindow < bytes.length && !ended) {
        windowGrown.awaitUninterruptibly();
      }
      clientWindow -= bytes.length;
    } finally {
      lock.unlock();
    }
    if (streams.containsKey(id)) {
      toClient.writeData(id, bytes, false);
    } else {
      // The client reset the stream meanwhile.
      lock.lock();
      try {
        clientWindow += bytes.length;
      } finally {
        lock.unlock();
      }
      toServer.giveBack(0, bytes.length);
    }
  }
}
