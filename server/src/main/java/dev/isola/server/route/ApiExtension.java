package dev.isola.server.route;

import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Another API that the server offers next to its own, with the same guards, keys and limits. The
 * server does not depend on any extension; the program that starts it provides them.
 */
public interface ApiExtension {

  /** A port of a sandbox as the client wrote it, not validated. */
  record PortName(String sandbox, String port) {}

  /** Returns the routes of this API. */
  List<Route> routes();

  /**
   * Returns the dialect of a request for errors that occur before its route is known.
   *
   * @param headers returns all values of a header
   * @param target the port of a sandbox that the request is for, if any
   */
  default Optional<ApiDialect> dialect(
      Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target) {
    return Optional.empty();
  }

  /**
   * Returns the port of a sandbox that the headers of a request name. Called if the host names
   * none.
   */
  default Optional<PortName> port(Function<String, List<String>> headers) {
    return Optional.empty();
  }

  /**
   * Returns what clients of this API may append to the id of a sandbox in a host name, such as
   * {@code -suffix}: a dash, then lower-case letters and digits.
   */
  default Set<String> idSuffixes() {
    return Set.of();
  }

  /**
   * Returns the path of the route that handles a port in place of the sandbox; empty if the request
   * is forwarded to the sandbox.
   *
   * @param path the path as it was sent
   */
  default Optional<String> path(HostOriginFilter.PreviewTarget target, String path) {
    return Optional.empty();
  }

  /** Returns the path to which a browser that opens the root of the server is sent, if any. */
  default Optional<String> home() {
    return Optional.empty();
  }

  /** Returns the headers that carry credentials for ports. */
  default PortCredentials portCredentials() {
    return PortCredentials.NONE;
  }
}
