package dev.isola.server;

import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.ConnectionTable;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Accepts connections, and closes those beyond the limits. */
final class LimitedConnector extends ServerConnector {
  private final ClientAddresses clients;
  private final ConnectionTable<Object> table;

  /** The end points, by the transport that TLS and upgrades leave the same. */
  private final Map<Object, EndPoint> endPoints = new ConcurrentHashMap<>();

  LimitedConnector(
      Server server,
      ConnectionLimits limits,
      ClientAddresses clients,
      ConnectionFactory... protocols) {
    super(server, 1, 1, protocols);
    this.clients = clients;
    table = new ConnectionTable<>(limits);
  }

  @Override
  protected void onEndPointOpened(EndPoint opened) {
    super.onEndPointOpened(opened);
    Object transport = opened.getTransport();
    endPoints.put(transport, opened);
    table
        .add(transport, network(opened))
        .flatMap(beyond -> Optional.ofNullable(endPoints.remove(beyond)))
        .ifPresent(EndPoint::close);
  }

  @Override
  protected void onEndPointClosed(EndPoint closed) {
    endPoints.remove(closed.getTransport());
    table.remove(closed.getTransport());
    super.onEndPointClosed(closed);
  }

  private String network(EndPoint opened) {
    String address =
        opened.getRemoteSocketAddress() instanceof InetSocketAddress remote
            ? remote.getAddress().getHostAddress()
            : "";
    return clients.isTrusted(address) ? "" : ClientAddresses.network(address);
  }

  /** Records that the head of a request has arrived. */
  static void requestStarted(Request request) {
    of(request).table.requestStarted(transport(request));
  }

  /** Records that a request has ended. */
  static void requestEnded(Request request) {
    of(request).table.requestEnded(transport(request));
  }

  /** Records that a request has a valid credential. */
  static void authenticated(Request request) {
    of(request).table.authenticated(transport(request));
  }

  private static LimitedConnector of(Request request) {
    return (LimitedConnector) request.getConnectionMetaData().getConnector();
  }

  private static Object transport(Request request) {
    Object transport = request.getConnectionMetaData().getConnection().getEndPoint();
    while (transport instanceof EndPoint endPoint) {
      transport = endPoint.getTransport();
    }
    return transport;
  }
}
