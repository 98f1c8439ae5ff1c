package dev.isola.server.api;

import dev.isola.server.access.ExposedPorts;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
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
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Routes for ports of sandboxes: publication, preview links and forwarding. */
record PortRoutes(ServerContext context, ApiKeys keys, Previews previews) {
  private static final String TEMPLATE = "/api/v1/sandboxes/{id}/ports";
  private static final Parameter PORT =
      Parameter.path("port", new Shape.NonEmptyText(5), "of the sandbox's own loopback");
  private static final Shape NUMBER = new Shape.WholeNumber(1, 65_535);
  private static final Shape.Obj PORT_STATUS =
      new Shape.Obj(
          Field.required("port", NUMBER, "of the sandbox's own loopback"),
          Field.required("public", Shapes.FLAG, "whether anybody may see it"));

  PortRoutes(ServerContext serving, ApiKeys keys, PortCredentials others) {
    this(serving, keys, new Previews(serving, keys, others));
  }

  List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.add(
        Route.of(
                "GET",
                TEMPLATE,
                "listPorts",
                "Lists the ports that the spec exposes, and those that are open to everybody.")
            .acceptsSandboxTokens()
            .takes(Shapes.ID)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                        Field.required(
                            "ports", new Shape.ListOf(PORT_STATUS, 65_535), "in order"))))
            .handledBy(this::list));
    routes.add(
        Route.of(
                "PUT",
                TEMPLATE + "/{port}",
                "setPort",
                "Opens a port to everybody, or closes it again.")
            .needs(Scope.USE)
            .takes(Shapes.ID, PORT)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("public", Shapes.FLAG, "whether anybody may see it")),
                    true))
            .answers(Response.json(200, PORT_STATUS))
            .handledBy(this::set));
    routes.add(
        Route.of(
                "POST",
                TEMPLATE + "/{port}/link",
                "makeLink",
                "Makes a link that opens a private port in a browser, until it expires.")
            .needs(Scope.USE)
            .takes(Shapes.ID, PORT)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("ttlSeconds", TokenRoutes.TTL, "from now"),
                        Field.optional(
                            "form",
                            new Shape.Choice(List.of("host", "path")),
                            "host: PORT-ID.DOMAIN, an origin of its own; path: beneath this URL;"
                                + " host, or path where the server is called by its address")),
                    true))
            .answers(
                Response.json(
                    201,
                    new Shape.Obj(
                        Field.required("url", Shapes.TEXT, "for a browser"),
                        Field.required("expiresAt", Shapes.TIME, "when its time is up"))))
            .handledBy(this::link));
    Stream.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
        .map(this::preview)
        .forEach(routes::add);
    return routes;
  }

  private Route preview(String method) {
    return Route.of(
            method,
            TEMPLATE + "/{port}/{rest}",
            "preview" + method.charAt(0) + method.substring(1).toLowerCase(Locale.ROOT),
            "Passes the request on to a port of the sandbox, whatever is behind the port in the"
                + " path. Also at http://PORT-ID.DOMAIN/. WebSockets too.")
        .needs(Scope.USE)
        .takes(
            Shapes.ID,
            PORT,
            Parameter.path("rest", Shapes.TEXT, "path and query as the sandbox sees them"))
        .takes(new Body.Forwarded())
        .answers(Response.of("*/*", "whatever the sandbox answers"))
        .handledBy(exchange -> previews.serve((PreviewExchange) exchange));
  }

  private void list(Exchange exchange) throws IOException {
    SandboxId id = SandboxRoutes.id(exchange);
    List<Integer> open = keys.publicPorts().of(id);
    exchange.json(
        200,
        Map.of(
            "ports",
            Stream.concat(new ExposedPorts(context).of(id).stream(), open.stream())
                .distinct()
                .sorted()
                .map(port -> described(port, open.contains(port)))
                .toList()));
  }

  private void set(Exchange exchange) throws IOException {
    SandboxId id = SandboxRoutes.id(exchange);
    int port = Previews.port(exchange.path("port"));
    boolean open = Boolean.TRUE.equals(exchange.body().get("public"));
    new ExposedPorts(context).check(id, port);
    if (open) {
      keys.publicPorts().retain(this::exists);
      keys.publicPorts().add(id, port);
    } else {
      keys.publicPorts().remove(id, port);
    }
    exchange.json(200, described(port, open));
  }

  /** Describes a port, with its fields in a fixed order. */
  private static Map<String, Object> described(int port, boolean open) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("port", port);
    answer.put("public", open);
    return answer;
  }

  private boolean exists(SandboxId id) {
    try {
      return context.engine().view(id).state() != SandboxState.DESTROYED;
    } catch (SandboxException e) {
      return false;
    }
  }

  private void link(Exchange exchange) throws IOException {
    SandboxId id = SandboxRoutes.id(exchange);
    int port = Previews.port(exchange.path("port"));
    new ExposedPorts(context).check(id, port);
    SandboxToken token =
        new SandboxToken(
            SandboxToken.Kind.PREVIEW,
            id,
            port,
            keys.tokens().expiryAfter(exchange.wholeNumber("ttlSeconds")));
    String host = exchange.header("Host").orElse("localhost");
    Object form = exchange.body().get("form");
    boolean address = HostOriginFilter.isAddress(host);
    if (address && "host".equals(form)) {
      throw Query.invalid(
          List.of(
              new Violation(
                  "form", "host needs a server that is called by a name, not by its address")));
    }
    String site =
        address || "path".equals(form)
            ? host + Previews.prefix(id.value(), port)
            : port + "-" + id + "." + HostOriginFilter.previewDomain(host);
    exchange.json(
        201,
        Map.of(
            "url",
            Confidential.token(
                (exchange.isSecure() ? "https://" : "http://")
                    + site
                    + "/?"
                    + Previews.PARAMETER
                    + "="
                    + keys.tokens().sign(token).reveal(),
                Scope.USE),
            "expiresAt",
            token.expiresAt().toString()));
  }
}
