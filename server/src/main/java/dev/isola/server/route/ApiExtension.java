package dev.isola.server.route;

import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Another API that the server answers beside its own, under the same guards, keys and limits. The
 * server knows none of them: the program that starts it hands them over.
 */
public interface ApiExtension {

  /** A port of a sandbox as a client wrote it; neither is checked. */
  record PortName(String sandbox, String port) {}

  /** Returns its rows of the table. */
  List<Route> routes();

  /**
   * Returns the dialect of a request whose route is not known yet, for errors up to there.
   *
   * @param headers all values of a header
   * @param target the port of a sandbox that the request is for, if it is for one
   */
  Optional<ApiDialect> dialect(
      Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target);

  /**
   * Returns the port of a sandbox that the headers of a request name. Asked where its host names
   * none.
   */
  Optional<PortName> port(Function<String, List<String>> headers);

  /**
   * Returns the path of the route that answers in place of a port of a sandbox; empty for ports
   * that are the sandbox's own.
   *
   * @param path as it was sent
   */
  Optional<String> path(HostOriginFilter.PreviewTarget target, String path);

  /** Returns the headers in which its clients show credentials for ports. */
  PortCredentials portCredentials();
}
