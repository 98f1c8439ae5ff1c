package dev.isola.codec.wrong;

import java.net.UnixDomainSocketAddress;

/** Violates a rule: only the agent link and the container engine client use Unix sockets. */
final class OwnSocket {
  Class<?> address() {
    return UnixDomainSocketAddress.class;
  }
}
