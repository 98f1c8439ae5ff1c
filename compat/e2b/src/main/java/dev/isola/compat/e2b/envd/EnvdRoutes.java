package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.InsecureAccess;
import dev.isola.compat.e2b.model.InsecureDialect;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.stream.Stream;

/**
 * Routes of envd, the service that E2B's clients expect inside a sandbox. Requests arrive by {@code
 * E2b-Sandbox-Id} or by the host {@code 49983-ID.DOMAIN}; the request pipeline puts {@link #PREFIX}
 * and the id before their path.
 */
public record EnvdRoutes(ServerContext context, ApiKeys keys, InsecureAccess insecure) {
  public static final String PREFIX = "/envd/";

  public List<Route> routes() {
    SandboxAccess inside = new SandboxAccess(context);
    return Stream.of(
            new EnvdStatusRoutes(context, keys, inside).routes(),
            new ProcessRoutes(inside).routes(),
            new FilesystemRoutes(inside, new Watchers()).routes(),
            new FileContentRoutes(context, keys, insecure, inside).routes())
        .flatMap(List::stream)
        .map(this::admitInsecure)
        .toList();
  }

  private Route admitInsecure(Route route) {
    return insecure.allowed() ? route.of(new InsecureDialect(route.dialect(), insecure)) : route;
  }
}
