package dev.isola.server.access;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Protects process information from keys with scope read. {@code /proc/PID/environ}, for example,
 * contains the environment of a command, which is masked for such keys everywhere else.
 */
public final class FileReadGuard {
  private static final Set<String> KERNEL = Set.of("proc", "sys", "dev");

  private FileReadGuard() {}

  /** Returns a route that checks the paths in requests with scope read. */
  public static Route wrap(Route route) {
    boolean files = route.template().contains("{id}/files") || route.template().endsWith("/watch");
    if (!files || !route.scope().equals(Optional.of(Scope.READ))) {
      return route;
    }
    Route.Handler handler = route.handler();
    return route.handledBy(
        exchange -> {
          for (String name : List.of("path", "pattern")) {
            check(exchange.key(), exchange.query(name).orElse(""));
          }
          handler.handle(exchange);
        });
  }

  /**
   * Checks whether a key may read a path.
   *
   * @throws dev.isola.spi.error.Forbidden for a key with scope read and a path of the kernel
   */
  public static void check(Optional<ApiKey> key, String path) {
    if (key.filter(one -> one.scope().allows(Scope.USE)).isPresent()) {
      return;
    }
    List<String> parts =
        List.of(path.split("/")).stream()
            .filter(part -> !part.isEmpty() && !part.equals("."))
            .toList();
    boolean kernel = path.startsWith("/") && !parts.isEmpty() && KERNEL.contains(parts.getFirst());
    if (kernel || parts.contains("..")) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "a key with scope read cannot access /proc, /sys, /dev or paths that contain ..",
              "use a key with scope use")
          .exception();
    }
  }
}
