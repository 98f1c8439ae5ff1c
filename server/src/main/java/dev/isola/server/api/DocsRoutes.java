package dev.isola.server.api;

import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Routes that a new client finds first: the root, which points to the others, and the page that
 * displays the OpenAPI document. They need no key and disclose the name and the version of the
 * product, which the OpenAPI document contains too.
 */
final class DocsRoutes {
  private static final Shape.Obj POINTERS =
      new Shape.Obj(
              Field.required("name", Shapes.WORD, "name of the product").example("Isola"),
              Field.required("version", Shapes.WORD, "version of the server").example("0.1.0"),
              Field.required("openapi", Shapes.PATH, "path of the OpenAPI document")
                  .example(SystemRoutes.OPENAPI),
              Field.required("docs", Shapes.PATH, "path of the API reference for browsers")
                  .example(DocsRoutes.DOCS),
              Field.optional(
                      "oidcProvider",
                      Shapes.WORD,
                      "host of the OpenID Connect provider with which people can sign in")
                  .example("login.example.org"))
          .named("ServerInfo");

  private static final String DOCS = "/api/v1/docs";

  private final String version;
  private final Optional<String> home;
  private final Optional<String> oidcProvider;
  private final HtmlPage index;
  private final HtmlPage docs;

  /**
   * @param home the path to which browsers are sent from the root, if there is one
   * @param oidcProvider the host with which people can sign in, if there is one
   */
  DocsRoutes(String version, Optional<String> home, Optional<String> oidcProvider) {
    this.version = version;
    this.home = home;
    this.oidcProvider = oidcProvider;
    index = new HtmlPage("index.html", version);
    docs = new HtmlPage("docs.html", version);
  }

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/", "getServerInfo", "Returns where to find the API and its description.")
            .withoutKey()
            .answers(Response.json(200, POINTERS).orHtml())
            .handledBy(this::root),
        Route.of("GET", DOCS, "docs", "Displays this document as a page that can send requests.")
            .withoutKey()
            .answers(Response.of("text/html", "a page without external resources"))
            .handledBy(docs::send));
  }

  private void root(Exchange exchange) throws IOException {
    exchange.addHeader("Vary", "Accept");
    if (exchange.header("Accept").filter(DocsRoutes::prefersHtml).isPresent()) {
      if (home.isPresent()) {
        Map<String, String> headers = Map.of("Location", home.get(), "Content-Length", "0");
        try (OutputStream _ = exchange.begin(303, "text/html", headers)) {
          // The response has no body.
        }
      } else {
        index.send(exchange);
      }
      return;
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", "Isola");
    json.put("version", version);
    json.put("openapi", SystemRoutes.OPENAPI);
    json.put("docs", DOCS);
    oidcProvider.ifPresent(host -> json.put("oidcProvider", host));
    exchange.json(200, json);
  }

  /** Browsers ask for HTML by name; programs ask for JSON or for anything. */
  private static boolean prefersHtml(String accept) {
    String lower = accept.toLowerCase(Locale.ROOT);
    return lower.contains("text/html") && !lower.contains("application/json");
  }
}
