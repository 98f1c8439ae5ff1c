package dev.isola.egress;

import dev.isola.egress.address.AddressFloor;
import dev.isola.egress.address.NameResolver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Connects to a name: resolves it, checks the addresses, and connects to a checked address. The
 * name is not resolved again in between, so an answer that changes has no effect.
 */
public final class OutboundDialer {
  private static final int MAX_ATTEMPTS = 4;

  private final NameResolver resolver;
  private final AddressFloor floor;
  private final Duration timeout;

  /**
   * @param timeout how long one attempt to connect takes at most
   */
  public OutboundDialer(NameResolver resolver, AddressFloor floor, Duration timeout) {
    this.resolver = resolver;
    this.floor = floor;
    this.timeout = timeout;
  }

  /** Returns the addresses of a name that sandboxes may reach, at least one. */
  List<InetAddress> resolve(String name) throws Refusal {
    List<InetAddress> addresses;
    try {
      addresses = resolver.resolve(name);
    } catch (UnknownHostException e) {
      throw Refusal.unreachable("the name " + name + " cannot be resolved");
    }
    List<InetAddress> reachable = new ArrayList<>();
    Optional<String> why = Optional.empty();
    for (InetAddress address : addresses) {
      Optional<String> refusal = floor.refusal(address);
      if (refusal.isEmpty()) {
        reachable.add(address);
      } else {
        why = refusal;
      }
    }
    if (reachable.isEmpty()) {
      throw Refusal.denied(
          name + " resolves to " + why.orElse("no address") + ", which sandboxes never reach", "");
    }
    return reachable;
  }

  /** Refuses an address that sandboxes must not reach. */
  void check(InetAddress address) throws Refusal {
    Optional<String> refusal = floor.refusal(address);
    if (refusal.isPresent()) {
      throw Refusal.denied(
          address.getHostAddress() + " is " + refusal.get() + ", which sandboxes never reach", "");
    }
  }

  /** An attempt to connect. */
  @FunctionalInterface
  interface Attempt<T> {
    T connect(InetSocketAddress to, Duration timeout) throws IOException;
  }

  /** Connects to the first of the addresses that answers. */
  SocketChannel connect(List<InetAddress> addresses, int port) throws IOException {
    return connect(addresses, port, OutboundDialer::connect);
  }

  /** Makes attempts until one succeeds. */
  <T> T connect(List<InetAddress> addresses, int port, Attempt<T> attempt) throws IOException {
    IOException failure = new IOException("no address");
    for (InetAddress address : addresses.subList(0, Math.min(addresses.size(), MAX_ATTEMPTS))) {
      try {
        return attempt.connect(new InetSocketAddress(address, port), timeout);
      } catch (IOException e) {
        failure = e;
      }
    }
    throw failure;
  }

  private static SocketChannel connect(InetSocketAddress to, Duration timeout) throws IOException {
    SocketChannel channel = SocketChannel.open();
    boolean connected = false;
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      channel.socket().connect(to, (int) timeout.toMillis());
      connected = true;
      return channel;
    } catch (SocketTimeoutException e) {
      throw new IOException("no answer within " + timeout.toMillis() + " ms", e);
    } finally {
      if (!connected) {
        channel.close();
      }
    }
  }
}
