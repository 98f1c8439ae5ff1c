package dev.isola.compat.e2b.envd;

import dev.isola.server.auth.ApiKeys;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.stream.Stream;

/**
 * What E2B's clients find inside a sandbox. They come by {@code E2b-Sandbox-Id} or by the host
 * {@code 49983-ID.DOMAIN}; the entrance puts {@link #PREFIX} and the id before their path.
 */
public record EnvdRoutes(Serving serving, ApiKeys keys) {
  public static final String PREFIX = "/envd/";

  public List<Route> routes() {
    Inside inside = new Inside(serving);
    return Stream.of(
            new FactRoutes(serving, keys, inside).routes(),
            new ProcessRoutes(inside).routes(),
            new FilesystemRoutes(inside, new Watchers()).routes(),
            new ContentRoutes(serving, keys, inside).routes())
        .flatMap(List::stream)
        .toList();
  }
}
