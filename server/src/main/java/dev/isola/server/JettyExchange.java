package dev.isola.server;

import dev.isola.codec.json.Json;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.Disclosure;
import dev.isola.server.auth.Session;
import dev.isola.server.forward.Header;
import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.peer.PeerExchange;
import dev.isola.server.peer.PeerRequest;
import dev.isola.server.preview.PreviewExchange;
import dev.isola.server.preview.PreviewThrottle;
import dev.isola.server.route.Routes;
import dev.isola.server.route.WebSocket;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.websocket.core.exception.WebSocketException;
import org.eclipse.jetty.websocket.core.server.WebSocketMappings;

/** An exchange on Jetty. */
record JettyExchange(
    Request request,
    Response response,
    String requestId,
    Optional<Authenticator.Identity> identity,
    Authenticator authenticator,
    Routes.Match match,
    Map<String, List<String>> queries,
    Map<String, Object> body,
    InputStream content,
    BooleanSupplier shutdown,
    RequestLifetime lifetime,
    Optional<PreviewDetails> previewDetails,
    RequestLogEntry logEntry,
    OwnerForwarding forwarding)
    implements PreviewExchange, PeerExchange {
  /**
   * Failed sign-ins of a client are counted apart from its keys, so that neither blocks the other.
   */
  private static final String SIGN_IN = "sign-in ";

  private static final WebSocketMappings SOCKETS = new WebSocketMappings();

  /**
   * The socket send buffer of a terminal: limits what the kernel buffers for a client that does not
   * read.
   */
  private static final int SOCKET_BUFFER = 128 * 1024;

  /**
   * The properties of a request to a preview.
   *
   * @param prefix the path prefix of the sandbox's port; empty in host form
   * @param crossOrigin whether the request comes from a page of another origin
   */
  record PreviewDetails(String prefix, boolean crossOrigin, PreviewThrottle throttle) {}

  @Override
  public Optional<ApiKey> key() {
    return identity.map(Authenticator.Identity::key);
  }

  @Override
  public Optional<Session> session() {
    return identity.flatMap(Authenticator.Identity::session);
  }

  @Override
  public ApiKey authenticate(String credential) {
    return authenticator.authenticate(request, credential, logEntry);
  }

  @Override
  public boolean isBlocked() {
    return authenticator.rateLimiter().isBlocked(signIn());
  }

  @Override
  public void recordAuthFailure() {
    boolean _ = authenticator.rateLimiter().recordAuthFailure(signIn());
  }

  private String signIn() {
    return SIGN_IN + ClientAddresses.network(remote());
  }

  @Override
  public SandboxId sandbox() {
    return match
        .sandbox()
        .orElseThrow(() -> new IllegalStateException("the path of the route names no sandbox"));
  }

  @Override
  public String path(String name) {
    String value = match.path().get(name);
    if (value == null) {
      throw new IllegalStateException("the route has no parameter " + name);
    }
    return value;
  }

  @Override
  public Optional<String> query(String name) {
    return queries(name).stream().findFirst();
  }

  @Override
  public List<String> queries(String name) {
    return queries.getOrDefault(name, List.of());
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(request.getHeaders().get(name));
  }

  @Override
  public Map<String, String> headersWithPrefix(String prefix) {
    Map<String, String> found = new TreeMap<>();
    for (HttpField field : request.getHeaders()) {
      String name = field.getLowerCaseName();
      if (name.startsWith(prefix) && field.getValue() != null) {
        found.put(name.substring(prefix.length()), field.getValue());
      }
    }
    return found;
  }

  @Override
  public void json(int status, Object answer) throws IOException {
    Disclosure disclosure = new Disclosure(key());
    Object seen = disclosure.of(answer);
    logEntry.disclosesToken |= disclosure.hasToken();
    JsonResponseStream out = new JsonResponseStream(response, status, "application/json");
    Json.write(seen, out);
    out.finish();
  }

  @Override
  public void addHeader(String header, String value) {
    if (header.equalsIgnoreCase("Set-Cookie")) {
      response.getHeaders().add(header, value); // one response may set several cookies
    } else {
      response.getHeaders().put(header, value);
    }
  }

  @Override
  public void noContent() throws IOException {
    response.setStatus(204);
    Content.Sink.write(response, true, ByteBuffer.allocate(0));
  }

  @Override
  public OutputStream begin(int status, String mediaType, Map<String, String> headers) {
    response.setStatus(status);
    response.getHeaders().put("Content-Type", mediaType);
    headers.forEach((name, value) -> response.getHeaders().put(name, value));
    return Content.Sink.asOutputStream(response);
  }

  @Override
  public DisconnectWatch interruptOnDisconnect() {
    return ClientDisconnectMonitor.watch(endPoint());
  }

  @Override
  public void resetOnClose() {
    Object transport = endPoint();
    while (transport instanceof EndPoint encrypted) {
      transport = encrypted.getTransport();
    }
    if (transport instanceof SocketChannel channel && channel.isOpen()) {
      try {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      } catch (IOException e) {
        // The connection is closed already.
      }
    }
  }

  @Override
  public void webSocket(String protocol, WebSocket.Session session) {
    List<String> offered =
        Credentials.protocols(request.getHeaders().getValuesList("Sec-WebSocket-Protocol"));
    if (!offered.contains(protocol)) {
      throw notAWebSocket(protocol);
    }
    try {
      EndPoint client = endPoint();
      if (client.getTransport() instanceof SocketChannel channel) {
        channel.setOption(StandardSocketOptions.SO_SNDBUF, SOCKET_BUFFER);
      }
      boolean upgraded =
          SOCKETS.upgrade(
              (upgradeRequest, upgradeResponse, done) -> {
                upgradeResponse.setAcceptedSubProtocol(protocol);
                upgradeResponse.setExtensions(
                    List.of()); // compression would cost memory per connection
                return new JettyWebSocket(lifetime, session);
              },
              request,
              response,
              lifetime.callback(),
              JettyWebSocket::configure);
      if (!upgraded) {
        throw notAWebSocket(protocol);
      }
      lifetime.takeOver();
    } catch (WebSocketException | HttpException.RuntimeException | IOException e) {
      throw notAWebSocket(protocol);
    }
  }

  private static SandboxException notAWebSocket(String protocol) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the request is not a WebSocket handshake",
            "use WebSocket version 13 and offer the subprotocol " + protocol)
        .exception();
  }

  private EndPoint endPoint() {
    return request.getConnectionMetaData().getConnection().getEndPoint();
  }

  @Override
  public String method() {
    return request.getMethod();
  }

  @Override
  public List<Header> headers() {
    return request.getHeaders().stream()
        .map(field -> new Header(field.getName(), field.getValue() == null ? "" : field.getValue()))
        .toList();
  }

  private PreviewDetails preview() {
    return previewDetails.orElseThrow(
        () -> new IllegalStateException("the request is not for a preview"));
  }

  @Override
  public String prefix() {
    return preview().prefix();
  }

  @Override
  public String target() {
    return request.getHttpURI().getPathQuery().substring(prefix().length());
  }

  @Override
  public boolean isCrossOrigin() {
    return preview().crossOrigin();
  }

  @Override
  public PreviewThrottle throttle() {
    return preview().throttle();
  }

  @Override
  public long length() {
    boolean chunked = request.getHeaders().contains("Transfer-Encoding");
    return request.getLength() < 0 && !chunked ? 0 : request.getLength();
  }

  @Override
  public String remote() {
    return logEntry.remote();
  }

  @Override
  public InputStream content() {
    return lifetime.content().orElse(content);
  }

  @Override
  public void restoreContent(byte[] read) {
    lifetime.restoreContent(read);
  }

  @Override
  public boolean isSecure() {
    return logEntry.isSecure(request);
  }

  @Override
  public OutputStream begin(int status, List<Header> headers) {
    response.setStatus(status);
    HttpFields.Mutable fields = response.getHeaders();
    fields.remove("Cache-Control");
    fields.remove("X-Content-Type-Options");
    fields.remove("Content-Security-Policy");
    headers.stream().map(Header::name).distinct().forEach(fields::remove);
    headers.forEach(one -> fields.add(one.name(), one.value()));
    if (request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_1_1) {
      fields.remove("Transfer-Encoding"); // not defined in HTTP/1.0
    }
    return Content.Sink.asOutputStream(response);
  }

  @Override
  public void tunnel(List<Header> headers, PortDialing.Connection port, byte[] early)
      throws IOException {
    begin(101, headers);
    Executor executor = request.getConnectionMetaData().getConnector().getExecutor();
    request.setAttribute(
        HttpStream.UPGRADE_CONNECTION_ATTRIBUTE,
        new Tunnel(endPoint(), executor, port, early, lifetime::releasePermits));
    Request.addCompletionListener(
        request,
        failure -> {
          if (failure != null) {
            lifetime.releasePermits(); // the tunnel was not established
          }
        });
    Content.Sink.write(response, true, ByteBuffer.allocate(0));
    lifetime.keepPermits();
  }

  @Override
  public void upgrade(String protocol, PortDialing.Connection other) throws IOException {
    boolean established = false;
    try {
      boolean requested =
          protocol.equalsIgnoreCase(header("Upgrade").orElse(""))
              && request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_1;
      if (!requested) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "the request is not an upgrade to " + protocol,
                "send Connection: Upgrade and Upgrade: " + protocol + " over HTTP/1.1")
            .exception();
      }
      List<Header> headers =
          List.of(new Header("Connection", "Upgrade"), new Header("Upgrade", protocol));
      tunnel(headers, other, new byte[0]);
      established = true;
    } finally {
      if (!established) {
        other.close();
      }
    }
  }

  @Override
  public boolean isOwnedElsewhere(SandboxId sandbox) {
    return forwarding.isElsewhere(this, sandbox);
  }

  @Override
  public boolean passToOwner(SandboxId sandbox, byte[] sent) throws IOException {
    return forwarding.pass(this, sandbox, sent);
  }

  @Override
  public boolean passToOwner(SandboxId sandbox) throws IOException {
    return forwarding.pass(this, sandbox);
  }

  @Override
  public boolean isFromPeer(PeerRequest.Kind kind) {
    return logEntry.statement.filter(one -> one.kind() == kind).isPresent();
  }

  @Override
  public void setSandbox(SandboxId sandbox) {
    logEntry.sandbox = Optional.of(sandbox);
  }

  @Override
  public void setActor(String name) {
    logEntry.key = name;
  }

  @Override
  public void setOperation(String action, Optional<ErrorCode> error) {
    logEntry.action = action;
    logEntry.code = error.map(ErrorCode::name);
  }

  @Override
  public boolean isShuttingDown() {
    return shutdown.getAsBoolean();
  }

  static void writeResponse(Response response, int status, String mediaType, byte[] bytes)
      throws IOException {
    response.setStatus(status);
    response.getHeaders().put("Content-Type", mediaType);
    response.getHeaders().put("Content-Length", Integer.toString(bytes.length));
    Content.Sink.write(response, true, ByteBuffer.wrap(bytes));
  }
}
