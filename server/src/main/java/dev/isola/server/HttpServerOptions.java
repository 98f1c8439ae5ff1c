package dev.isola.server;

import dev.isola.engine.trace.Tracer;
import dev.isola.server.limit.RequestLimits;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What config may add to a server.
 *
 * @param traces asked for each request, because the engine comes after the port
 */
public record HttpServerOptions(
    Optional<Tls> tls,
    RequestLimits limits,
    List<RequestListener> listeners,
    Supplier<Optional<Tracer>> traces) {
  /** Plain HTTP without limits, and nobody looks on. */
  public static final HttpServerOptions NONE =
      new HttpServerOptions(Optional.empty(), RequestLimits.NONE, List.of(), Optional::empty);

  public HttpServerOptions {
    listeners = List.copyOf(listeners);
  }
}
