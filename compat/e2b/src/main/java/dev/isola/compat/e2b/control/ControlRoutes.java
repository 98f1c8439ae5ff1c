package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.create.Wanted;
import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.template.Template;
import dev.isola.compat.e2b.template.Templates;
import dev.isola.engine.Engine;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Sandboxes: made, found, kept alive, put to rest, ended. */
public record ControlRoutes(
    Serving serving, Templates templates, Wanted wanted, Described described) {
  /** How long a sandbox lives when nobody says, in the two versions of the API. */
  private static final long FIRST = 15;

  private static final long SECOND = 300;

  /** How long one that was paused is kept. */
  private static final Duration KEPT = Duration.ofDays(30);

  private static final Parameter KEY =
      Parameter.header(
          "Idempotency-Key", new Shape.Filled(255), "a request with the same key makes no second");

  private static final Shape ANY = new Shape.Document(Map.of("type", "object"));

  public List<Route> routes() {
    return Stream.of(
            Stream.of(
                route("POST", "/sandboxes", "e2bCreateFirst", "Makes a sandbox.")
                    .takes(KEY)
                    .by(exchange -> create(exchange, FIRST)),
                route("POST", "/v2/sandboxes", "e2bCreate", "Makes a sandbox.")
                    .takes(KEY)
                    .by(exchange -> create(exchange, SECOND))),
            Stream.of("", "/v2")
                .map(
                    version ->
                        route(
                                "POST",
                                version + "/sandboxes/{id}/connect",
                                "e2bConnect" + version.replace("/", "").toUpperCase(Locale.ROOT),
                                "Opens a sandbox, and wakes one that is paused.")
                            .by(this::connect)),
            Stream.of(
                one("GET", "", "e2bGet", "Describes a sandbox.")
                    .needs(Scope.READ)
                    .by(
                        exchange ->
                            exchange.json(
                                200, described.detailed(exchange, Living.of(serving, exchange)))),
                one("DELETE", "", "e2bKill", "Ends a sandbox.").by(this::kill),
                one("POST", "/timeout", "e2bTimeout", "Lets a sandbox live that long from now.")
                    .by(exchange -> renew(exchange, "timeout")),
                one("POST", "/refreshes", "e2bRefresh", "Lets a sandbox live that long from now.")
                    .by(exchange -> renew(exchange, "duration")),
                one("POST", "/pause", "e2bPause", "Pauses a sandbox.").by(this::pause),
                one("POST", "/resume", "e2bResume", "Wakes a sandbox.").by(this::resume),
                one("PUT", "/network", "e2bNetwork", "Changes what a sandbox reaches.")
                    .by(this::network)))
        .flatMap(each -> each)
        .toList();
  }

  static Route route(String method, String template, String name, String summary) {
    Route route = Route.of(method, template, name, summary).needs(Scope.USE).of(E2bDialect.CONTROL);
    return method.equals("GET") || method.equals("DELETE")
        ? route
        : route.takes(new Route.Body.Json(ANY, false));
  }

  static Route one(String method, String rest, String name, String summary) {
    return route(method, "/sandboxes/{id}" + rest, name, summary);
  }

  private void create(Exchange exchange, long usual) throws IOException {
    Body body = new Body(exchange.body());
    Template template = templates.find(body.text("templateID").orElse(Images.BASE));
    Order order = wanted.order(body, template, usual);
    if (HostAccessGuard.grants(exchange)) {
      order = order.withHostAccess();
    }
    SandboxView entry =
        serving
            .engine()
            .create(exchange.header("Idempotency-Key").map(order::withKey).orElse(order))
            .entry();
    exchange.about(entry.id());
    exchange.json(201, described.opened(exchange, entry));
  }

  /** Wakes one that is paused. Its time is made longer, and never shorter. */
  private void connect(Exchange exchange) throws IOException {
    SandboxView entry = Living.of(serving, exchange);
    Body body = new Body(exchange.body());
    Duration time = Wanted.seconds(body, "timeout", SECOND);
    boolean asleep = Described.isAsleep(entry);
    if (asleep) {
      wake(entry, body.flag("memory").orElse(true));
    }
    boolean sooner =
        entry.expiresAt().filter(end -> end.isBefore(Instant.now().plus(time))).isPresent();
    if (asleep || sooner) {
      serving.engine().renew(entry.id(), time);
    }
    exchange.json(asleep ? 201 : 200, described.opened(exchange, entry));
  }

  /** Who wants nothing of the memory gets the files, and processes that begin anew. */
  private void wake(SandboxView entry, boolean memory) {
    Engine engine = serving.engine();
    engine.resume(entry.id());
    if (!memory && entry.state() == SandboxState.PAUSED) {
      engine.pause(entry.id(), PauseKind.FILESYSTEM);
      engine.resume(entry.id());
    }
  }

  private void resume(Exchange exchange) throws IOException {
    if (!Described.isAsleep(Living.of(serving, exchange))) {
      throw already(exchange, "running");
    }
    connect(exchange);
  }

  /** One that is paused is kept; its time goes on when it wakes. */
  private void pause(Exchange exchange) throws IOException {
    SandboxView entry = Living.of(serving, exchange);
    if (Described.isAsleep(entry)) {
      throw already(exchange, "paused");
    }
    Engine engine = serving.engine();
    boolean memory = new Body(exchange.body()).flag("memory").orElse(true);
    boolean freezes =
        engine
            .sandbox(entry.id())
            .as(Pausing.class)
            .filter(one -> one.kinds().contains(PauseKind.MEMORY))
            .isPresent();
    engine.renew(entry.id(), KEPT);
    try {
      engine.pause(entry.id(), memory && freezes ? PauseKind.MEMORY : PauseKind.FILESYSTEM);
    } catch (SandboxException e) {
      entry
          .expiresAt()
          .ifPresent(end -> engine.renew(entry.id(), Duration.between(Instant.now(), end)));
      throw e;
    }
    exchange.empty();
  }

  private static SandboxException already(Exchange exchange, String state) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "sandbox " + exchange.path("id") + " is " + state + " already",
            "go on with it")
        .exception();
  }

  private void renew(Exchange exchange, String field) throws IOException {
    SandboxId id = Living.of(serving, exchange).id();
    serving.engine().renew(id, Wanted.seconds(new Body(exchange.body()), field, SECOND));
    exchange.empty();
  }

  /** The network of a sandbox does not change; who wants what it has is told so. */
  private void network(Exchange exchange) throws IOException {
    SandboxView entry = Living.of(serving, exchange);
    Body body = new Body(exchange.body());
    if (!wanted
        .reached(body, body)
        .equals(SpecText.read(entry.spec(), entry.id()).spec().network())) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "the network of a running sandbox cannot be changed here",
              "make a new sandbox with the network it needs")
          .exception();
    }
    exchange.empty();
  }

  private void kill(Exchange exchange) throws IOException {
    serving.engine().destroy(Living.of(serving, exchange).id(), Destroy.FORCE);
    exchange.empty();
  }
}
