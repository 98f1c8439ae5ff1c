package dev.isola.server;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.trace.Tracer;
import dev.isola.server.access.PortUrls;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.peer.PeerRequest;
import dev.isola.server.preview.PreviewThrottle;
import dev.isola.server.preview.Previews;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.JsonBody;
import dev.isola.server.route.OwnerLookup;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Handles every request in order: Host and Origin, route, key, parameters, body, handler. Every
 * exception is rendered as an error response.
 */
final class RequestPipeline extends Handler.Abstract {
  /**
   * Keeps a response, such as a file of a sandbox, from acting as a page of this server, whose
   * requests would have the session of the browser. Pages of the server replace it.
   */
  private static final String NO_PAGE = "sandbox; default-src 'none'";

  private static final String RETRY_SECONDS = "1";

  private final Routes routes;
  private final HostOriginFilter hostFilter;
  private final Set<String> idSuffixes;
  private final Supplier<String> ids;
  private final AccessLog requests;
  private final HttpServerOptions options;
  private final RateLimiter rateLimiter;
  private final Authenticator authenticator;
  private final ErrorRenderer errors;
  private final OwnerForwarding forwarding;
  private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
  private volatile boolean shuttingDown;

  RequestPipeline(
      Routes routes,
      HostOriginFilter hostFilter,
      ApiKeys keys,
      Supplier<String> ids,
      AccessLog requests,
      HttpServerOptions options,
      Log log) {
    this.routes = routes;
    this.hostFilter = hostFilter;
    idSuffixes =
        routes.extensions().stream()
            .flatMap(one -> one.idSuffixes().stream())
            .collect(Collectors.toUnmodifiableSet());
    this.ids = ids;
    this.requests = requests;
    this.options = options;
    rateLimiter = new RateLimiter(options.limits(), System::nanoTime);
    authenticator = new Authenticator(keys, rateLimiter);
    errors = new ErrorRenderer(log, () -> shuttingDown);
    forwarding = new OwnerForwarding(options.peers());
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    long startNanos = System.nanoTime();
    RequestLogEntry logEntry =
        new RequestLogEntry(
            ids.get(),
            options
                .clients()
                .of(Request.getRemoteAddr(request), RequestLogEntry.values(request, "Forwarded")));
    LimitedConnector.requestStarted(request, logEntry.client);
    Thread worker = Thread.currentThread();
    workers.add(worker);
    putDefaultHeaders(response, logEntry.id);
    Optional<Tracer> traces = options.traces().get();
    traces.ifPresent(
        one -> one.begin(Optional.ofNullable(request.getHeaders().get("traceparent"))));
    RequestLifetime lifetime = new RequestLifetime(callback, workers);
    try {
      // A command may be silent for longer than a connection may be idle.
      request.addIdleTimeoutListener(timeout -> false);
      serve(request, response, logEntry, lifetime);
      if (!lifetime.isTakenOver()) {
        new RequestBodyDrain(request).discardUnread();
        callback.succeeded();
      }
    } catch (MisdirectedRequest e) {
      errors.renderMisdirected(request, response, callback);
    } catch (Exception | LinkageError | StackOverflowError e) {
      errors.render(request, response, callback, logEntry, e);
    } finally {
      workers.remove(worker);
      lifetime.handlerReturned();
      Thread
          .interrupted(); // the interrupt was for this request, not for the next one on this thread
      recordCompletion(request, response, logEntry, traces, System.nanoTime() - startNanos);
    }
    return true;
  }

  /** Sets the headers of every response. */
  static void putDefaultHeaders(Response response, String requestId) {
    response.getHeaders().put("X-Request-Id", requestId);
    response.getHeaders().put("Cache-Control", "no-store");
    response.getHeaders().put("X-Content-Type-Options", "nosniff");
    response.getHeaders().put("Content-Security-Policy", NO_PAGE);
  }

  private void recordCompletion(
      Request request,
      Response response,
      RequestLogEntry logEntry,
      Optional<Tracer> traces,
      long nanos) {
    String method = method(request);
    int status = response.getStatus();
    requests.write(
        new AccessLog.Line(
            logEntry.id, method, logEntry.route, status, nanos / 1_000_000, logEntry.key));
    RequestListener.CompletedRequest completed =
        new RequestListener.CompletedRequest(
            logEntry.id,
            method,
            logEntry.action,
            logEntry.route,
            status,
            logEntry.code,
            nanos,
            logEntry.key,
            logEntry.remote(),
            logEntry.sandbox.map(SandboxId::value),
            logEntry.disclosesToken,
            logEntry.unlisted);
    if (!logEntry.passedOn) {
      options.listeners().forEach(listener -> listener.requestCompleted(completed));
    }
    traces.ifPresent(
        one ->
            one.end(
                method + " " + logEntry.route,
                nanos,
                status < 500,
                Map.of(
                    "http.request.method",
                    method,
                    "http.route",
                    logEntry.route,
                    "http.response.status_code",
                    Integer.toString(status),
                    "isola.request_id",
                    logEntry.id)));
  }

  private void serve(
      Request request, Response response, RequestLogEntry logEntry, RequestLifetime lifetime)
      throws Exception {
    String sentPath = request.getHttpURI().getPath();
    Optional<PeerRequest> statement = forwarding.verify(request);
    if (statement.isPresent()) {
      LimitedConnector.authenticated(request);
      logEntry.statement = statement;
      logEntry.id = statement.get().requestId();
      response.getHeaders().put("X-Request-Id", logEntry.id);
      serveRoute(request, response, sentPath, logEntry, lifetime);
      return;
    }
    List<String> hosts = RequestLogEntry.values(request, "Host");
    Optional<HostOriginFilter.PreviewTarget> target =
        hostFilter.targetFromHost(hosts, idSuffixes).or(() -> targetFromHeaders(request, hosts));
    firstFromExtensions(
            one -> one.dialect(header -> RequestLogEntry.values(request, header), target))
        .ifPresent(dialect -> logEntry.dialect = dialect);
    Optional<String> routedPath =
        target.flatMap(port -> firstFromExtensions(one -> one.path(port, sentPath)));
    if (routedPath.isEmpty() && preview(request, response, sentPath, target, logEntry, lifetime)) {
      return;
    }
    if (routedPath.isPresent()) {
      target.get().check(RequestLogEntry.values(request, "Origin"));
    } else {
      hostFilter.check(hosts, RequestLogEntry.values(request, "Origin"));
    }
    serveRoute(request, response, routedPath.orElse(sentPath), logEntry, lifetime);
  }

  private void serveRoute(
      Request request,
      Response response,
      String path,
      RequestLogEntry logEntry,
      RequestLifetime lifetime)
      throws Exception {
    Optional<Routes.Match> found = routes.find(request.getMethod(), path);
    if (found.isEmpty() && describesOptions(request, response, path)) {
      return;
    }
    Routes.Match match = found.orElseThrow(() -> noRoute(path));
    Route route = match.route();
    logEntry.dialect = route.dialect();
    logEntry.path = path;
    logEntry.route = route.template();
    logEntry.action = route.name();
    refuseWhenShuttingDown(logEntry);
    logEntry.sandbox = match.sandbox();
    Optional<Authenticator.Identity> identity;
    if (logEntry.statement.isPresent()) {
      // The server that the client is connected to has applied its limits.
      identity = authenticator.accept(logEntry.statement.get(), route, logEntry);
    } else {
      identity = authenticator.authenticate(request, match, logEntry);
      if (identity.isPresent()) {
        LimitedConnector.authenticated(request);
        rateLimiter.countRequest(logEntry.key);
        lifetime.hold(rateLimiter.acquireRequest());
        if (route.isStreaming()) {
          lifetime.hold(rateLimiter.acquireStream(streamOwner(identity.get().key(), logEntry)));
        }
      }
    }
    match.requireSandbox();
    Optional<SandboxId> sandbox =
        !route.owner().equals(OwnerLookup.NONE) && forwarding.isShared()
            ? route.owner().find(match)
            : Optional.empty();
    if (sandbox.isPresent()) {
      JettyExchange unread =
          exchange(request, response, logEntry, match, identity, Map.of(), Map.of(), lifetime);
      if (forwarding.pass(unread, sandbox.get())) {
        return;
      }
    }
    dispatch(request, response, logEntry, match, identity, lifetime);
  }

  /**
   * Refuses a request that arrives on an open connection after the shutdown began. A server that
   * passed it on looks for the next owner of the sandbox.
   */
  private void refuseWhenShuttingDown(RequestLogEntry logEntry) {
    if (!shuttingDown) {
      return;
    }
    if (logEntry.statement.isPresent()) {
      throw new MisdirectedRequest();
    }
    throw Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server is shutting down",
            "repeat the request at another server, or after this one has restarted")
        .with(RateLimiter.RETRY_AFTER, RETRY_SECONDS)
        .exception();
  }

  /** All sandbox tokens have the same name; each sandbox has streams of its own. */
  private static String streamOwner(ApiKey key, RequestLogEntry logEntry) {
    return key.isToken()
        ? logEntry.key + logEntry.sandbox.map(id -> " of " + id).orElse("")
        : logEntry.key;
  }

  /** Returns the first result that an extension provides. */
  private <T> Optional<T> firstFromExtensions(Function<ApiExtension, Optional<T>> query) {
    return routes.extensions().stream().flatMap(one -> query.apply(one).stream()).findFirst();
  }

  /** Returns the port of a sandbox that the headers name. */
  private Optional<HostOriginFilter.PreviewTarget> targetFromHeaders(
      Request request, List<String> hosts) {
    return firstFromExtensions(one -> one.port(header -> RequestLogEntry.values(request, header)))
        .flatMap(port -> hostFilter.targetFromHeaders(hosts, port.sandbox(), port.port()));
  }

  private void dispatch(
      Request request,
      Response response,
      RequestLogEntry logEntry,
      Routes.Match match,
      Optional<Authenticator.Identity> identity,
      RequestLifetime lifetime)
      throws Exception {
    Route route = match.route();

    List<Violation> problems = new ArrayList<>();
    Map<String, List<String>> query = Query.read(request.getHttpURI().getQuery(), problems);
    Query.check(route, match.path(), query, headers(request, route), problems);
    Map<String, Object> body = Map.of();
    if (route.body() instanceof Route.Body.Json json) {
      checkContentType(request);
      InputStream content =
          lifetime.content().orElseGet(() -> Content.Source.asInputStream(request));
      body = JsonBody.read(content, json, problems);
    } else if (!problems.isEmpty()) {
      throw Query.invalid(problems);
    }
    route
        .handler()
        .handle(exchange(request, response, logEntry, match, identity, query, body, lifetime));
  }

  private JettyExchange exchange(
      Request request,
      Response response,
      RequestLogEntry logEntry,
      Routes.Match match,
      Optional<Authenticator.Identity> identity,
      Map<String, List<String>> query,
      Map<String, Object> body,
      RequestLifetime lifetime) {
    return new JettyExchange(
        request,
        response,
        logEntry.id,
        identity,
        authenticator,
        match,
        query,
        body,
        Content.Source.asInputStream(request),
        () -> shuttingDown,
        lifetime,
        Optional.empty(),
        logEntry,
        forwarding);
  }

  /**
   * Forwards a request to a port of a sandbox, named by the host or by the path. Authorization is
   * up to the handler, because a public port needs no credential.
   */
  private boolean preview(
      Request request,
      Response response,
      String path,
      Optional<HostOriginFilter.PreviewTarget> host,
      RequestLogEntry logEntry,
      RequestLifetime lifetime)
      throws Exception {
    List<String> hosts = RequestLogEntry.values(request, "Host");
    List<String> origins = RequestLogEntry.values(request, "Origin");
    String fullPath =
        host.map(one -> PortUrls.prefix(one.sandbox(), one.port()) + path).orElse(path);
    Optional<Routes.Match> match = routes.findForwarded(request.getMethod(), fullPath);
    if (host.isPresent() && match.isEmpty()) {
      throw unknownPath();
    }
    boolean ownRoute = host.isEmpty() && routes.find(request.getMethod(), fullPath).isPresent();
    if (match.isEmpty() || ownRoute) {
      return false;
    }
    if (host.isEmpty()) {
      hostFilter.checkHost(hosts);
    }
    logEntry.route = match.get().route().template();
    logEntry.action = match.get().route().name();
    refuseWhenShuttingDown(logEntry);
    match.get().requireSandbox();
    logEntry.sandbox = match.get().sandbox();
    PreviewThrottle access = throttle(request, logEntry, lifetime);
    JettyExchange.PreviewDetails seen =
        host.map(one -> new JettyExchange.PreviewDetails("", one.isCrossOrigin(origins), access))
            .orElseGet(
                () ->
                    new JettyExchange.PreviewDetails(
                        Previews.prefixOf(path), hostFilter.isCrossOrigin(origins), access));
    match
        .get()
        .route()
        .handler()
        .handle(
            new JettyExchange(
                request,
                response,
                logEntry.id,
                Optional.empty(),
                authenticator,
                match.get(),
                Map.of(),
                Map.of(),
                Content.Source.asInputStream(request),
                () -> shuttingDown,
                lifetime,
                Optional.of(seen),
                logEntry,
                forwarding));
    return true;
  }

  private PreviewThrottle throttle(
      Request request, RequestLogEntry logEntry, RequestLifetime lifetime) {
    String remote = logEntry.remote();
    return new PreviewThrottle() {
      @Override
      public boolean isBlocked() {
        return rateLimiter.isBlocked(remote);
      }

      @Override
      public void checkNotBlocked() {
        rateLimiter.checkNotBlocked(remote);
      }

      @Override
      public void recordAuthFailure() {
        authenticator.recordFailure(logEntry);
      }

      @Override
      public void acquire(String sandbox, boolean known) {
        if (known) {
          LimitedConnector.authenticated(request);
        }
        lifetime.hold(rateLimiter.acquirePreview(sandbox, known));
      }
    };
  }

  /**
   * Answers OPTIONS with the methods of a path, which the OpenAPI document discloses too. It grants
   * no other origin anything.
   */
  private boolean describesOptions(Request request, Response response, String path)
      throws IOException {
    List<String> methods = routes.allowedMethods(path);
    if (!request.getMethod().equals("OPTIONS") || methods.isEmpty()) {
      return false;
    }
    response.setStatus(204);
    response.getHeaders().put("Allow", String.join(", ", methods));
    Content.Sink.write(response, true, ByteBuffer.allocate(0));
    return true;
  }

  private SandboxException noRoute(String path) {
    List<String> methods = routes.allowedMethods(path);
    if (!methods.isEmpty()) {
      String allowed = String.join(", ", methods);
      return Fault.of(
              ErrorCode.METHOD_NOT_ALLOWED,
              "the path does not support this method",
              "use " + allowed)
          .with(ErrorRenderer.ALLOW, allowed)
          .exception();
    }
    return routes.at(path).isEmpty()
        ? unknownPath()
        : Fault.of(
                ErrorCode.ROUTE_NOT_FOUND,
                "the path does not support this method",
                "use " + String.join(", ", routes.at(path).stream().map(Route::method).toList()))
            .exception();
  }

  private static SandboxException unknownPath() {
    return Fault.of(
            ErrorCode.ROUTE_NOT_FOUND,
            "the path does not exist",
            "see /api/v1/openapi.json for all paths")
        .exception();
  }

  private static void checkContentType(Request request) {
    String type = request.getHeaders().get("Content-Type");
    if (type != null
        && !type.toLowerCase(Locale.ROOT).split(";", -1)[0].strip().equals("application/json")) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the Content-Type of the body is not application/json",
              "send Content-Type: application/json")
          .exception();
    }
  }

  private static Map<String, String> headers(Request request, Route route) {
    Map<String, String> headers = new HashMap<>();
    for (Parameter parameter : route.parameters()) {
      String value = request.getHeaders().get(parameter.name());
      if (parameter.where() == Parameter.Where.HEADER && value != null) {
        headers.put(parameter.name(), value);
      }
    }
    return headers;
  }

  /**
   * Returns the method of the request, or {@code -} for a method no route has: unknown names must
   * not appear in logs.
   */
  private String method(Request request) {
    return request.getMethod().equals("HEAD")
            || routes.all().stream().anyMatch(one -> one.method().equals(request.getMethod()))
        ? request.getMethod()
        : RequestLogEntry.NONE;
  }

  /** Ends streams that have no end of their own. */
  void beginShutdown() {
    shuttingDown = true;
  }

  /** Returns the number of active requests. */
  int activeRequests() {
    return workers.size();
  }

  /** Interrupts all active requests. */
  void interruptRequests() {
    workers.forEach(Thread::interrupt);
  }
}
