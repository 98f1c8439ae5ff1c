package dev.isola.egress.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Finds the addresses of a name. */
@FunctionalInterface
public interface NameResolver {
  /**
   * Returns the addresses of a name, at least one.
   *
   * @throws UnknownHostException if it has none, or no name server answers in time
   */
  List<InetAddress> resolve(String name) throws UnknownHostException;
}
