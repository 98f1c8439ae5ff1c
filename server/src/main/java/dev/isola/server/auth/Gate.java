package dev.isola.server.auth;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Looks at Host and Origin before anything else does. A page of another site, and a name that
 * somebody points at this machine, get no further, whatever key a browser would send along.
 */
public final class Gate {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Set<String> names = new HashSet<>(LOOPBACK);

  /**
   * @param domains further names of this server, without ports
   */
  public Gate(Collection<String> domains) {
    domains.forEach(domain -> names.add(domain.toLowerCase(Locale.ROOT)));
  }

  /** Tells whether only this machine can reach an address by that name. */
  public static boolean isLoopback(String host) {
    return LOOPBACK.contains(host) || host.equals("::1");
  }

  /**
   * Refuses a request that was not meant for us.
   *
   * @param hosts all Host headers
   * @param origins all Origin headers
   */
  public void check(List<String> hosts, List<String> origins) {
    if (hosts.size() != 1 || name(hosts.getFirst()).filter(names::contains).isEmpty()) {
      throw refused("Host", "this server is not known by the name it was called by");
    }
    for (String origin : origins) {
      if (host(origin).flatMap(Gate::name).filter(names::contains).isEmpty()) {
        throw refused("Origin", "pages of another origin may not call this server");
      }
    }
  }

  private static SandboxException refused(String header, String what) {
    return Fault.of(
            ErrorCode.FORBIDDEN, what, "use localhost, or name the domain in server.domains")
        .with("header", header)
        .exception();
  }

  private static Optional<String> host(String origin) {
    String lower = origin.toLowerCase(Locale.ROOT);
    for (String scheme : List.of("http://", "https://")) {
      if (lower.startsWith(scheme)) {
        return Optional.of(lower.substring(scheme.length()));
      }
    }
    return Optional.empty();
  }

  /** Returns a host without its port. */
  private static Optional<String> name(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    int colon = lower.lastIndexOf(':');
    boolean port =
        colon > lower.lastIndexOf(']')
            && lower.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
    String name = port ? lower.substring(0, colon) : lower;
    return name.isEmpty() ? Optional.empty() : Optional.of(name);
  }
}
