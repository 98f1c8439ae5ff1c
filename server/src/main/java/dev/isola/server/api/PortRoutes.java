package dev.isola.server.api;

import dev.isola.server.access.ExposedPorts;
import dev.isola.server.access.PortUrls;
import dev.isola.server.auth.Actor;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.peer.PeerExchange;
import dev.isola.server.peer.PeerRequest;
import dev.isola.server.peer.PeerServers;
import dev.isola.server.preview.PreviewExchange;
import dev.isola.server.preview.Previews;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes for ports of sandboxes: publication, preview links and forwarding. */
record PortRoutes(ServerContext context, ApiKeys keys, Previews previews) {
  private static final String TEMPLATE = "/api/v1/sandboxes/{id}/ports";
  private static final Shape NUMBER = new Shape.WholeNumber(1, 65_535);
  private static final Parameter PORT =
      Parameter.path("port", NUMBER, "port on the loopback interface of the sandbox");
  private static final Shape.Obj PORT_STATUS =
      new Shape.Obj(
              Field.required("port", NUMBER, "port on the loopback interface of the sandbox")
                  .example(8000),
              Field.required(
                  "public", Shapes.FLAG, "whether the port is accessible without a credential"),
              Field.required("url", Shapes.PATH, "where the server serves the port")
                  .example("http://8000-k3v9x2m7q4n8.localhost:7777/"))
          .named("PortStatus");

  private static final Shape.Obj PORT_DETAILS =
      PORT_STATUS
          .and(
              Field.optional(
                  "listening",
                  Shapes.FLAG,
                  "whether a process listens on the port; absent if that is unknown, because the"
                      + " sandbox is not running or its provider cannot connect to ports"))
          .named("PortDetails");

  PortRoutes(ServerContext context, ApiKeys keys, PortCredentials extensionCredentials) {
    this(context, keys, new Previews(context, keys, extensionCredentials));
  }

  List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.add(
        Route.of(
                "GET",
                TEMPLATE,
                "listPorts",
                "Lists the ports that the spec exposes and the public ports.")
            .acceptsSandboxTokens()
            .answeredByAnyServer()
            .takes(Shapes.ID)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "ports",
                                new Shape.ListOf(PORT_STATUS, 65_535),
                                "in ascending order"))
                        .named("PortList")))
            .handledBy(this::list));
    routes.add(
        Route.of(
                "GET",
                TEMPLATE + "/{port}",
                "getPort",
                "Describes a port, and connects to it to learn whether a process listens.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, PORT)
            .answers(Response.json(200, PORT_DETAILS))
            .handledBy(this::get));
    routes.add(
        Route.of("PUT", TEMPLATE + "/{port}", "setPort", "Makes a port public or private.")
            .needs(Scope.USE)
            .answeredByAnyServer()
            .takes(Shapes.ID, PORT)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                            "public",
                            Shapes.FLAG,
                            "whether the port is accessible without a credential")),
                    true))
            .answers(Response.json(200, PORT_STATUS))
            .handledBy(this::set));
    routes.add(
        Route.of(
                "POST",
                TEMPLATE + "/{port}/link",
                "makeLink",
                "Creates a link that gives a browser access to a private port until the link"
                    + " expires.")
            .needs(Scope.USE)
            .answeredByAnyServer()
            .takes(Shapes.ID, PORT)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("ttlSeconds", TokenRoutes.TTL, "lifetime in seconds")
                            .example(600),
                        Field.optional(
                            "form",
                            new Shape.Choice(List.of("host", "path")),
                            "host: PORT-ID.DOMAIN, a separate origin; path: a path of this server;"
                                + " default host, or path if the server is addressed by IP"
                                + " address")),
                    true))
            .answers(
                Response.json(
                    201,
                    new Shape.Obj(
                            Field.required("url", Shapes.TEXT, "URL to open in a browser")
                                .example(
                                    "http://8000-k3v9x2m7q4n8.localhost:7777/?isola_token=..."),
                            Field.required("expiresAt", Shapes.TIME, "expiry time"))
                        .named("PortLink")))
            .handledBy(this::link));
    Stream.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
        .map(this::preview)
        .forEach(routes::add);
    return routes;
  }

  /** Returns the route by which another server connects to a port for a preview. */
  Route peerRoute() {
    return Route.of(
            "GET",
            PeerServers.PORT_TEMPLATE,
            "peerPort",
            "Connects another server of the installation to a port of a sandbox.")
        .of(new PeerDialect())
        .withoutKey()
        .answeredByAnyServer()
        .handledBy(this::connectPeer);
  }

  private void connectPeer(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    int port = Previews.port(exchange.path("port"));
    if (!((PeerExchange) exchange).isFromPeer(PeerRequest.Kind.PORT)) {
      throw Fault.of(
              ErrorCode.UNAUTHENTICATED,
              "only servers that share the ledger may use this path",
              "open the preview of the port")
          .exception();
    }
    exchange.setActor(Actor.PEER);
    if (!exchange.isOwnedElsewhere(id)) {
      exchange.upgrade(PeerServers.PORT_PROTOCOL, previews.dial(id, port));
    }
  }

  private Route preview(String method) {
    return Route.of(
            method,
            TEMPLATE + "/{port}/{rest}",
            "preview" + method.charAt(0) + method.substring(1).toLowerCase(Locale.ROOT),
            "Forwards the request, with the rest of the path, to a port of the sandbox. Also"
                + " available at http://PORT-ID.DOMAIN/. Supports WebSockets.")
        .needs(Scope.USE)
        .takes(
            Shapes.ID,
            PORT,
            Parameter.path("rest", Shapes.TEXT, "path and query that are sent to the sandbox"))
        .takes(new Body.Forwarded())
        .answers(Response.of("*/*", "the response of the sandbox"))
        .handledBy(exchange -> previews.serve((PreviewExchange) exchange));
  }

  private void list(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    List<Integer> open = keys.publicPorts().of(id);
    exchange.json(
        200,
        Map.of(
            "ports",
            Stream.concat(new ExposedPorts(context).of(id).stream(), open.stream())
                .distinct()
                .sorted()
                .map(port -> describe(exchange, id, port, open.contains(port)))
                .toList()));
  }

  private void get(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    int port = Previews.port(exchange.path("port"));
    new ExposedPorts(context).check(id, port);
    Map<String, Object> answer =
        describe(exchange, id, port, keys.publicPorts().of(id).contains(port));
    isListening(id, port).ifPresent(listening -> answer.put("listening", listening));
    exchange.json(200, answer);
  }

  /** Connects to a port of a running sandbox. Does not resume a suspended one. */
  private Optional<Boolean> isListening(SandboxId id, int port) {
    if (context.sandboxes().view(id).state() != SandboxState.RUNNING) {
      return Optional.empty();
    }
    Optional<PortDialing> dialing = context.sandboxes().get(id).as(PortDialing.class);
    if (dialing.isEmpty()) {
      return Optional.empty();
    }
    try (PortDialing.Connection _ = dialing.get().dial(port)) {
      return Optional.of(true);
    } catch (SandboxException e) {
      // Any other failure, such as a full queue of the listener, tells nothing.
      return e.code() == ErrorCode.PORT_NOT_OPEN ? Optional.of(false) : Optional.empty();
    } catch (IOException e) {
      return Optional.of(true); // closing failed; the connection existed
    }
  }

  private void set(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    int port = Previews.port(exchange.path("port"));
    boolean open = Boolean.TRUE.equals(exchange.body().get("public"));
    new ExposedPorts(context).check(id, port);
    if (open) {
      keys.publicPorts().retain(this::exists);
      keys.publicPorts().add(id, port);
    } else {
      keys.publicPorts().remove(id, port);
    }
    exchange.json(200, describe(exchange, id, port, open));
  }

  /** Describes a port, with its fields in a fixed order. */
  private static Map<String, Object> describe(
      Exchange exchange, SandboxId id, int port, boolean open) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("port", port);
    answer.put("public", open);
    answer.put("url", PortUrls.url(exchange, id, port, false));
    return answer;
  }

  private boolean exists(SandboxId id) {
    try {
      return context.sandboxes().view(id).state() != SandboxState.DESTROYED;
    } catch (SandboxException e) {
      return false;
    }
  }

  private void link(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    int port = Previews.port(exchange.path("port"));
    new ExposedPorts(context).check(id, port);
    Object form = exchange.body().get("form");
    String host = exchange.header("Host").orElse("localhost");
    if (HostOriginFilter.isAddress(host) && "host".equals(form)) {
      throw Query.invalid(
          List.of(
              new Violation(
                  "form",
                  "must be path, because the server is addressed by IP address and not by name")));
    }
    PortUrls.Link link =
        PortUrls.link(
            exchange, keys, id, port, exchange.wholeNumber("ttlSeconds"), "path".equals(form));
    exchange.json(201, Map.of("url", link.url(), "expiresAt", link.expiresAt().toString()));
  }
}
