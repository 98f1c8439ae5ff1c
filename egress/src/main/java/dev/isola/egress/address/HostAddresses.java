package dev.isola.egress.address;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** The addresses of this host's interfaces, read again every few seconds. */
public final class HostAddresses implements Supplier<Set<InetAddress>> {
  private static final long MAX_AGE = Duration.ofSeconds(2).toNanos();

  private record Reading(Set<InetAddress> addresses, long nanoTime) {}

  private volatile Reading last = new Reading(Set.of(), System.nanoTime() - MAX_AGE);

  @Override
  public Set<InetAddress> get() {
    Reading reading = last;
    if (System.nanoTime() - reading.nanoTime >= MAX_AGE) {
      reading = new Reading(read(), System.nanoTime());
      last = reading;
    }
    return reading.addresses;
  }

  private static Set<InetAddress> read() {
    try {
      Set<InetAddress> found = new HashSet<>();
      for (NetworkInterface link : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        for (InetAddress address : Collections.list(link.getInetAddresses())) {
          found.add(withoutScope(address));
        }
      }
      return found;
    } catch (SocketException e) {
      throw new UncheckedIOException("the addresses of this host cannot be read", e);
    }
  }

  /** An address with a scope does not equal the same address without. */
  private static InetAddress withoutScope(InetAddress address) {
    try {
      return InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("the bytes are an address", e);
    }
  }
}
