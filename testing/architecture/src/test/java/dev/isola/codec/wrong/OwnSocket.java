package dev.isola.codec.wrong;

import java.net.UnixDomainSocketAddress;

/** Breaks a rule: unix sockets are for the agent's link and for the client of container engines. */
final class OwnSocket {
  Class<?> address() {
    return UnixDomainSocketAddress.class;
  }
}
