package dev.isola.server;

import dev.isola.engine.api.trace.Tracer;
import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.RequestLimits;
import dev.isola.server.peer.PeerServers;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Optional features of a server.
 *
 * @param traces queried for each request, because the engine starts after the server
 * @param peers the other servers of the installation; waits for the engine to start
 * @param clients determines the addresses of clients, also behind proxies
 */
public record HttpServerOptions(
    Optional<Tls> tls,
    RequestLimits limits,
    List<RequestListener> listeners,
    Supplier<Optional<Tracer>> traces,
    Supplier<Optional<PeerServers>> peers,
    ConnectionLimits connections,
    ClientAddresses clients) {
  /** Plain HTTP without limits and without listeners. */
  public static final HttpServerOptions NONE =
      new HttpServerOptions(Optional.empty(), RequestLimits.NONE, List.of(), Optional::empty);

  /** Options of a server that has its ledger to itself. */
  public HttpServerOptions(
      Optional<Tls> tls,
      RequestLimits limits,
      List<RequestListener> listeners,
      Supplier<Optional<Tracer>> traces) {
    this(tls, limits, listeners, traces, Optional::empty);
  }

  /** Options with the usual limits on connections, of a server without proxies in front. */
  public HttpServerOptions(
      Optional<Tls> tls,
      RequestLimits limits,
      List<RequestListener> listeners,
      Supplier<Optional<Tracer>> traces,
      Supplier<Optional<PeerServers>> peers) {
    this(tls, limits, listeners, traces, peers, ConnectionLimits.DEFAULT, ClientAddresses.DIRECT);
  }

  /** Returns a copy with other limits on connections. */
  public HttpServerOptions withConnections(ConnectionLimits other, ClientAddresses addresses) {
    return new HttpServerOptions(tls, limits, listeners, traces, peers, other, addresses);
  }

  public HttpServerOptions {
    listeners = List.copyOf(listeners);
  }
}
