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
import org.eclipse.jetty.server.HttpStream;
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
    close(table.add(transport, network(opened)));
  }

  private void close(Optional<Object> beyond) {
    beyond
        .flatMap(transport -> Optional.ofNullable(endPoints.remove(transport)))
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
    return network(address);
  }

  private String network(String address) {
    return clients.isTrusted(address) ? "" : ClientAddresses.network(address);
  }

  /**
   * Records that the head of a request has arrived, until the request has ended. A connection that
   * a request has upgraded is never idle.
   *
   * @param client the address of the client
   */
  static void requestStarted(Request request, String client) {
    LimitedConnector connector = of(request);
    connector.close(connector.table.requestStarted(transport(request), connector.network(client)));
    Request.addCompletionListener(
        request,
        _ -> {
          if (request.getAttribute(HttpStream.UPGRADE_CONNECTION_ATTRIBUTE) == null) {
            connector.table.requestEnded(transport(request));
          }
        });
  }

  /** Records that a request has a valid credential, or comes from another server. */
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
