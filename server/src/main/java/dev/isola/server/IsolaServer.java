package dev.isola.server;

import dev.isola.codec.json.Json;
import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.Log;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Routes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.DetectorConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The HTTP server: one port, one virtual thread per request. */
public final class IsolaServer implements AutoCloseable {
  private static final int MAX_HEAD = 16 * 1024;
  private static final Duration DRAIN_POLL_INTERVAL = Duration.ofMillis(20);

  private static final SecureRandom RANDOM = new SecureRandom();

  private final Server jetty;
  private final ServerConnector connector;
  private final RequestPipeline pipeline;
  private final String scheme;
  private final String host;
  private final Optional<SslContextFactory.Server> secure;

  private IsolaServer(
      Server jetty,
      ServerConnector connector,
      RequestPipeline pipeline,
      String scheme,
      String host,
      Optional<SslContextFactory.Server> secure) {
    this.jetty = jetty;
    this.connector = connector;
    this.pipeline = pipeline;
    this.scheme = scheme;
    this.host = host;
    this.secure = secure;
  }

  /**
   * The address of a server.
   *
   * @param port 0 for any free port
   * @param idle how long a connection may be idle between and within requests
   */
  public record Address(String host, int port, Duration idle) {
    public static Address of(String host, int port) {
      return new Address(host, port, Duration.ofSeconds(30));
    }
  }

  /**
   * Opens a port and starts a server on it.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when the port cannot be opened
   * @throws dev.isola.spi.error.InvalidRequest when the address is reachable from other machines
   *     and there is no key
   */
  public static IsolaServer open(
      Address address,
      Routes routes,
      HostOriginFilter hostFilter,
      ApiKeys keys,
      AccessLog requests,
      Log log) {
    return open(address, routes, hostFilter, keys, requests, HttpServerOptions.NONE, log);
  }

  /**
   * Opens a port and starts a server on it.
   *
   * @param options optional features
   * @throws dev.isola.spi.error.ProviderUnavailable when the port cannot be opened
   * @throws dev.isola.spi.error.InvalidRequest when the address is reachable from other machines
   *     and there is no key
   */
  public static IsolaServer open(
      Address address,
      Routes routes,
      HostOriginFilter hostFilter,
      ApiKeys keys,
      AccessLog requests,
      HttpServerOptions options,
      Log log) {
    ListeningPort port = ListeningPort.open(address);
    boolean started = false;
    try {
      IsolaServer server = open(port, routes, hostFilter, keys, requests, options, log);
      started = true;
      return server;
    } finally {
      if (!started) {
        port.close();
      }
    }
  }

  /**
   * Starts a server on an open port, which it closes at its end.
   *
   * @param options optional features
   * @throws dev.isola.spi.error.InvalidRequest when the address is reachable from other machines
   *     and there is no key
   */
  public static IsolaServer open(
      ListeningPort port,
      Routes routes,
      HostOriginFilter hostFilter,
      ApiKeys keys,
      AccessLog requests,
      HttpServerOptions options,
      Log log) {
    Address address = port.address();
    if (keys.isEmpty() && !HostOriginFilter.isLoopback(address.host())) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no API key, and " + address.host() + " is reachable from other machines",
              "set ISOLA_API_KEY, or start the server on 127.0.0.1 once to create a first key")
          .exception();
    }
    QueuedThreadPool threads = new QueuedThreadPool(64, 4);
    threads.setName("isola-http");
    threads.setDaemon(true);
    threads.setVirtualThreadsExecutor(VirtualThreads.getNamedVirtualThreadsExecutor("isola-http-"));
    Server jetty = new Server(threads);
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setRequestHeaderSize(MAX_HEAD);
    Optional<SslContextFactory.Server> secure = options.tls().map(Tls::factory);
    ServerConnector connector =
        new LimitedConnector(
            jetty,
            options.connections(),
            options.clients(),
            protocols(options, secure, new HttpConnectionFactory(http)));
    connector.setHost(address.host());
    connector.setPort(address.port());
    connector.setIdleTimeout(address.idle().toMillis());
    try {
      connector.open(port.channel());
    } catch (IOException e) {
      throw new IllegalStateException("the server cannot use its port", e);
    }
    jetty.addConnector(connector);
    RequestPipeline pipeline =
        new RequestPipeline(
            routes, hostFilter, keys, IsolaServer::requestId, requests, options, log);
    jetty.setHandler(pipeline);
    jetty.setErrorHandler(IsolaServer::rejectUnparsable);
    // Certificates are seldom valid for a loopback address.
    boolean plain =
        options.tls().isEmpty()
            || (options.tls().get().allowsPlaintext()
                && HostOriginFilter.isLoopback(address.host()));
    IsolaServer server =
        new IsolaServer(
            jetty, connector, pipeline, plain ? "http" : "https", address.host(), secure);
    server.start(address);
    return server;
  }

  private static ConnectionFactory[] protocols(
      HttpServerOptions options,
      Optional<SslContextFactory.Server> secure,
      HttpConnectionFactory http) {
    if (secure.isEmpty()) {
      return new ConnectionFactory[] {http};
    }
    SslConnectionFactory tls = new SslConnectionFactory(secure.get(), http.getProtocol());
    boolean plainToo = options.tls().filter(Tls::allowsPlaintext).isPresent();
    return new ConnectionFactory[] {plainToo ? new DetectorConnectionFactory(tls) : tls, http};
  }

  /**
   * Uses another certificate for new connections. Does nothing for a server without TLS.
   *
   * @throws IllegalStateException when the certificate cannot be used; the server keeps its own
   */
  public void replaceCertificate(Tls tls) {
    if (secure.isEmpty()) {
      return;
    }
    try {
      tls.replaceIn(secure.get());
    } catch (Exception e) {
      throw new IllegalStateException("the certificate cannot be replaced", e);
    }
  }

  private void start(Address address) {
    try {
      jetty.start();
    } catch (Exception e) {
      stop();
      String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the server at " + address.host() + " cannot be started: " + why,
              "check the certificate and the settings below server")
          .exception(e);
    }
  }

  private static String requestId() {
    byte[] bytes = new byte[8];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Responds to a request that Jetty could not parse and that therefore cannot be routed. */
  private static boolean rejectUnparsable(Request request, Response response, Callback callback)
      throws IOException {
    String id = requestId();
    boolean clientError = HttpStatus.isClientError(response.getStatus());
    Problem problem =
        clientError
            ? Problem.of(
                Fault.of(
                    ErrorCode.INVALID_REQUEST,
                    "the request is not valid HTTP",
                    "check the request line and the headers; a request head may have at most "
                        + MAX_HEAD
                        + " bytes"),
                id)
            : Problem.of(new IllegalStateException(), id);
    response.getHeaders().put("X-Request-Id", id);
    JettyExchange.writeResponse(
        response, problem.status(), Problem.MEDIA_TYPE, Json.bytes(problem.body()));
    callback.succeeded();
    return true;
  }

  /** Returns the URL of the server. */
  public String url() {
    String name = host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
    return scheme + "://" + name + ":" + port();
  }

  public int port() {
    return connector.getLocalPort();
  }

  /** Returns the number of active requests. */
  int activeRequests() {
    return pipeline.activeRequests();
  }

  public InetSocketAddress address() {
    return new InetSocketAddress(host, port());
  }

  /**
   * Stops accepting connections, refuses new requests with {@code Retry-After}, and ends event
   * streams. Requests in progress continue.
   */
  public void beginShutdown() {
    pipeline.beginShutdown();
    connector.close();
  }

  /**
   * Stops accepting connections, waits up to {@code timeout} for active requests, and then
   * interrupts them. Event streams end at once; their clients can resume from the last event.
   */
  public void close(Duration timeout) {
    beginShutdown();
    boolean _ =
        Deadline.in(timeout)
            .awaitUninterruptibly(DRAIN_POLL_INTERVAL, () -> pipeline.activeRequests() == 0);
    pipeline.interruptRequests();
    stop();
  }

  @Override
  public void close() {
    close(Duration.ZERO);
  }

  private void stop() {
    try {
      jetty.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the server cannot be stopped", e);
    }
  }
}
