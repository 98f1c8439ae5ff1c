package dev.isola.compat.e2b.volume;

import dev.isola.compat.e2b.create.Beginnings;
import dev.isola.compat.e2b.create.Wanted;
import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.template.Templates;
import dev.isola.engine.api.Settings;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Volumes by name. The provider makes one when the first sandbox mounts it. Secrets of E2B, which
 * are put into requests on their way out, are refused.
 */
public final class VolumeRoutes {
  private static final Shape ANY = new Shape.Document(Map.of("type", "object"));

  private final VolumeBook book;
  private final Keepers keepers;

  private VolumeRoutes(VolumeBook book, Keepers keepers) {
    this.book = book;
    this.keepers = keepers;
  }

  public static List<Route> all(
      Settings settings,
      Serving serving,
      Templates templates,
      Wanted wanted,
      Beginnings beginnings) {
    VolumeBook book = new VolumeBook(settings);
    book.hashStoredTokens();
    VolumeRoutes volumes =
        new VolumeRoutes(book, new Keepers(serving, templates, wanted, beginnings));
    return Stream.of(
            volumes.routes(), new ContentRoutes(volumes.book, volumes.keepers).routes(), secrets())
        .flatMap(List::stream)
        .toList();
  }

  private List<Route> routes() {
    return List.of(
        route("POST", "/volumes", "e2bVolume", "Names a volume.")
            .by(
                exchange ->
                    exchange.json(201, book.create(new Body(exchange.body()).needed("name")))),
        route("GET", "/volumes", "e2bVolumes", "Lists volumes.")
            .needs(Scope.READ)
            .by(
                exchange ->
                    exchange.json(200, book.all().stream().map(VolumeBook.Named::listed).toList())),
        route("GET", "/volumes/{volume}", "e2bGetVolume", "Opens a volume.")
            .by(exchange -> exchange.json(200, book.open(exchange.path("volume")))),
        route("DELETE", "/volumes/{volume}", "e2bRemoveVolume", "Empties a volume.")
            .by(this::remove));
  }

  private static Route route(String method, String template, String name, String summary) {
    Route route = Route.of(method, template, name, summary).needs(Scope.USE).of(E2bDialect.CONTROL);
    return method.equals("POST") ? route.takes(new Route.Body.Json(ANY, false)) : route;
  }

  private VolumeBook.Named need(Exchange exchange) {
    return book.need(exchange.path("volume"));
  }

  private void remove(Exchange exchange) throws IOException {
    VolumeBook.Named volume = need(exchange);
    keepers.empty(volume);
    book.forget(volume);
    exchange.empty();
  }

  private static List<Route> secrets() {
    return List.of(
        route("GET", "/secrets", "e2bSecrets", "Lists none.")
            .needs(Scope.READ)
            .by(exchange -> exchange.json(200, List.of())),
        route("POST", "/secrets", "e2bSecret", "Is refused.")
            .by(
                exchange -> {
                  throw Fault.of(
                          ErrorCode.NOT_IMPLEMENTED,
                          "keeping secrets for requests of sandboxes is not done here",
                          "give the sandbox what it may know in envs")
                      .exception();
                }));
  }
}
