package dev.isola.server;

import dev.isola.engine.trace.Tracer;
import dev.isola.server.limit.RequestLimits;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Optional features of a server.
 *
 * @param traces queried for each request, because the engine starts after the server
 */
public record HttpServerOptions(
    Optional<Tls> tls,
    RequestLimits limits,
    List<RequestListener> listeners,
    Supplier<Optional<Tracer>> traces) {
  /** Plain HTTP without limits and without listeners. */
  public static final HttpServerOptions NONE =
      new HttpServerOptions(Optional.empty(), RequestLimits.NONE, List.of(), Optional::empty);

  public HttpServerOptions {
    listeners = List.copyOf(listeners);
  }
}
