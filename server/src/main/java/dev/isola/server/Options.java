package dev.isola.server;

import dev.isola.engine.trace.Traces;
import dev.isola.server.limit.Limits;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What config may add to a server.
 *
 * @param traces asked for each request, because the engine comes after the port
 */
public record Options(
    Optional<Tls> tls, Limits limits, List<Witness> witnesses, Supplier<Optional<Traces>> traces) {
  /** Plain HTTP without limits, and nobody looks on. */
  public static final Options NONE =
      new Options(Optional.empty(), Limits.NONE, List.of(), Optional::empty);

  public Options {
    witnesses = List.copyOf(witnesses);
  }
}
