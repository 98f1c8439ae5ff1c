package dev.isola.server;

import dev.isola.engine.api.Log;
import dev.isola.engine.trace.Traces;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Gate;
import dev.isola.server.limit.Turnstile;
import dev.isola.server.preview.PreviewAccess;
import dev.isola.server.preview.Previews;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.JsonText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
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
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Where every request comes in: Host and Origin, then the route, then the key, then the parameters
 * and the body, and only then whoever does the work. Whatever is thrown leaves as a problem.
 */
final class Entrance extends Handler.Abstract {
  private final Routes routes;
  private final Gate gate;
  private final Supplier<String> ids;
  private final AccessLog requests;
  private final Options options;
  private final Turnstile turnstile;
  private final Doorkeeper doorkeeper;
  private final Failures failures;
  private final Set<Thread> working = ConcurrentHashMap.newKeySet();
  private volatile boolean ending;

  Entrance(
      Routes routes,
      Gate gate,
      ApiKeys keys,
      Supplier<String> ids,
      AccessLog requests,
      Options options,
      Log log) {
    this.routes = routes;
    this.gate = gate;
    this.ids = ids;
    this.requests = requests;
    this.options = options;
    turnstile = new Turnstile(options.limits(), System::nanoTime);
    doorkeeper = new Doorkeeper(keys, turnstile);
    failures = new Failures(log);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    long begun = System.nanoTime();
    Visit visit = new Visit(ids.get());
    Thread worker = Thread.currentThread();
    working.add(worker);
    response.getHeaders().put("X-Request-Id", visit.id);
    response.getHeaders().put("Cache-Control", "no-store");
    response.getHeaders().put("X-Content-Type-Options", "nosniff");
    Optional<Traces> traces = options.traces().get();
    traces.ifPresent(
        one -> one.begin(Optional.ofNullable(request.getHeaders().get("traceparent"))));
    Handover handover = new Handover(callback, working);
    try {
      // A command may be silent for longer than a connection may be idle.
      request.addIdleTimeoutListener(timeout -> false);
      serve(request, response, visit, handover);
      if (!handover.isTaken()) {
        callback.succeeded();
      }
    } catch (Exception | LinkageError | StackOverflowError e) {
      failures.answer(request, response, callback, visit, e);
    } finally {
      working.remove(worker);
      handover.returned();
      Thread.interrupted(); // meant for this request, not for the next one on this thread
      told(request, response, visit, traces, System.nanoTime() - begun);
    }
    return true;
  }

  private void told(
      Request request, Response response, Visit visit, Optional<Traces> traces, long nanos) {
    String method = method(request);
    int status = response.getStatus();
    requests.write(
        new AccessLog.Line(visit.id, method, visit.route, status, nanos / 1_000_000, visit.key));
    Witness.Visited visited =
        new Witness.Visited(
            visit.id,
            method,
            visit.action,
            visit.route,
            status,
            visit.code,
            nanos,
            visit.key,
            Request.getRemoteAddr(request),
            visit.sandbox,
            visit.token);
    options.witnesses().forEach(witness -> witness.answered(visited));
    traces.ifPresent(
        one ->
            one.end(
                method + " " + visit.route,
                nanos,
                status < 500,
                Map.of(
                    "http.request.method",
                    method,
                    "http.route",
                    visit.route,
                    "http.response.status_code",
                    Integer.toString(status),
                    "isola.request_id",
                    visit.id)));
  }

  private void serve(Request request, Response response, Visit visit, Handover handover)
      throws Exception {
    String sent = request.getHttpURI().getPath();
    List<String> hosts = Visit.values(request, "Host");
    Optional<Gate.PreviewHost> target = gate.preview(hosts).or(() -> named(request, hosts));
    extended(one -> one.dialect(header -> Visit.values(request, header), target))
        .ifPresent(dialect -> visit.dialect = dialect);
    Optional<String> instead = target.flatMap(port -> extended(one -> one.path(port, sent)));
    if (instead.isEmpty() && preview(request, response, sent, target, visit, handover)) {
      return;
    }
    if (instead.isPresent()) {
      target.get().check(Visit.values(request, "Origin"));
    } else {
      gate.check(hosts, Visit.values(request, "Origin"));
    }
    String path = instead.orElse(sent);
    Routes.Match match = routes.find(request.getMethod(), path).orElseThrow(() -> noRoute(path));
    Route route = match.route();
    visit.dialect = route.dialect();
    visit.route = route.template();
    visit.action = route.name();
    visit.sandbox =
        Optional.ofNullable(match.path().get("id")).filter(id -> id.matches("[a-z0-9]{1,32}"));
    Optional<ApiKey> key = doorkeeper.admit(request, route, match.path(), visit);
    if (key.isPresent()) {
      turnstile.request(visit.key);
      handover.holds(turnstile.enter());
      if (route.streams()) {
        handover.holds(turnstile.stream(visit.key));
      }
    }
    work(request, response, visit, match, key, handover);
  }

  /** Returns what the first extension that has something to say says. */
  private <T> Optional<T> extended(Function<ApiExtension, Optional<T>> asking) {
    return routes.extensions().stream().flatMap(one -> asking.apply(one).stream()).findFirst();
  }

  /** Returns the port of a sandbox that headers name. */
  private Optional<Gate.PreviewHost> named(Request request, List<String> hosts) {
    return extended(one -> one.port(header -> Visit.values(request, header)))
        .flatMap(port -> gate.named(hosts, port.sandbox(), port.port()));
  }

  private void work(
      Request request,
      Response response,
      Visit visit,
      Routes.Match match,
      Optional<ApiKey> key,
      Handover handover)
      throws Exception {
    Route route = match.route();

    List<Violation> problems = new ArrayList<>();
    Map<String, List<String>> query = Query.read(request.getHttpURI().getQuery(), problems);
    Query.check(route, match.path(), query, headers(request, route), problems);
    Map<String, Object> body = Map.of();
    if (route.body() instanceof Route.Body.Json json) {
      refuseOtherTypes(request);
      body = JsonText.read(Content.Source.asInputStream(request), json, problems);
    } else if (!problems.isEmpty()) {
      throw Query.refused(problems);
    }
    route
        .handler()
        .handle(
            new JettyExchange(
                request,
                response,
                visit.id,
                key,
                match.path(),
                query,
                body,
                Content.Source.asInputStream(request),
                () -> ending,
                handover,
                Optional.empty(),
                visit));
  }

  /**
   * Passes on what is for the port of a sandbox, by the host it was sent to or by its path. Who may
   * come in is decided there: a sandbox that somebody opened is open to everybody.
   */
  private boolean preview(
      Request request,
      Response response,
      String path,
      Optional<Gate.PreviewHost> host,
      Visit visit,
      Handover handover)
      throws Exception {
    List<String> hosts = Visit.values(request, "Host");
    List<String> origins = Visit.values(request, "Origin");
    String whole = host.map(one -> Previews.prefix(one.sandbox(), one.port()) + path).orElse(path);
    Optional<Routes.Match> match = routes.foreign(request.getMethod(), whole);
    if (host.isPresent() && match.isEmpty()) {
      throw noRoute("");
    }
    boolean ours = host.isEmpty() && routes.find(request.getMethod(), whole).isPresent();
    if (match.isEmpty() || ours) {
      return false;
    }
    if (host.isEmpty()) {
      gate.checkHost(hosts);
    }
    visit.route = match.get().route().template();
    visit.action = match.get().route().name();
    Map<String, String> parts = match.get().path();
    visit.sandbox = Optional.ofNullable(parts.get("id"));
    PreviewAccess access = access(Request.getRemoteAddr(request), handover);
    JettyExchange.Seen seen =
        host.map(one -> new JettyExchange.Seen("", one.isForeign(origins), access))
            .orElseGet(
                () ->
                    new JettyExchange.Seen(
                        Previews.prefixOf(path), gate.isForeign(origins), access));
    match
        .get()
        .route()
        .handler()
        .handle(
            new JettyExchange(
                request,
                response,
                visit.id,
                Optional.empty(),
                parts,
                Map.of(),
                Map.of(),
                Content.Source.asInputStream(request),
                () -> ending,
                handover,
                Optional.of(seen),
                visit));
    return true;
  }

  private PreviewAccess access(String remote, Handover handover) {
    return new PreviewAccess() {
      @Override
      public boolean isBlocked() {
        return turnstile.isBlocked(remote);
      }

      @Override
      public void refuseBlocked() {
        turnstile.address(remote);
      }

      @Override
      public void failed() {
        turnstile.failed(remote);
      }

      @Override
      public void enter(String sandbox, boolean known) {
        handover.holds(turnstile.preview(sandbox, known));
      }
    };
  }

  private SandboxException noRoute(String path) {
    List<String> methods = routes.methods(path);
    return methods.isEmpty()
        ? Fault.of(
                ErrorCode.ROUTE_NOT_FOUND,
                "there is no such path",
                "/api/v1/openapi.json lists all of them")
            .exception()
        : Fault.of(
                ErrorCode.ROUTE_NOT_FOUND,
                "this path does not take that method",
                "it takes " + String.join(", ", methods))
            .exception();
  }

  private static void refuseOtherTypes(Request request) {
    String type = request.getHeaders().get("Content-Type");
    if (type != null
        && !type.toLowerCase(Locale.ROOT).split(";", -1)[0].strip().equals("application/json")) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the body is not declared as JSON",
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

  /** A method is a word of the caller's unless it is one of ours. */
  private String method(Request request) {
    return routes.all().stream().anyMatch(one -> one.method().equals(request.getMethod()))
        ? request.getMethod()
        : Visit.NOBODY;
  }

  /** Ends what has no end of its own. */
  void end() {
    ending = true;
  }

  /** Returns how many requests are worked on. */
  int busy() {
    return working.size();
  }

  /** Interrupts whoever still works. */
  void interrupt() {
    working.forEach(Thread::interrupt);
  }
}
