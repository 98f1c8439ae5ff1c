package dev.isola.server.auth;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The names and addresses of a server that follow from its listening address: if it listens on all
 * addresses, the host name and all addresses of the machine, otherwise that address. A cross-origin
 * page cannot use them, because its requests carry its own origin.
 */
public final class MachineNames {
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::", "[::]");
  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  /** Addresses change, but requests with unknown names must not cause a lookup each. */
  private static final long REFRESH_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Set<String> names = new LinkedHashSet<>();
  private final Supplier<Set<InetAddress>> lookup;
  private final LongSupplier nanoTime;
  private volatile Known current;

  private record Known(Set<InetAddress> addresses, long at) {}

  MachineNames(Set<String> names, Supplier<Set<InetAddress>> lookup, LongSupplier nanoTime) {
    names.forEach(name -> this.names.add(name.toLowerCase(Locale.ROOT)));
    this.lookup = lookup;
    this.nanoTime = nanoTime;
    this.current = new Known(lookup.get(), nanoTime.getAsLong());
  }

  /** Returns the names of a server that listens on this address or name. */
  public static MachineNames of(String listening) {
    if (HostOriginFilter.isLoopback(listening)) {
      return new MachineNames(Set.of(), Set::of, System::nanoTime);
    }
    return WILDCARDS.contains(listening)
        ? new MachineNames(hostName(), MachineNames::interfaces, System::nanoTime)
        : new MachineNames(Set.of(listening), () -> resolved(listening), System::nanoTime);
  }

  /**
   * Returns whether a name refers to this server.
   *
   * @param name in lower case, without a port; an IPv6 address in brackets
   */
  boolean contains(String name) {
    if (names.contains(name)) {
      return true;
    }
    Optional<InetAddress> address = address(name);
    return address.isPresent()
        && (current.addresses().contains(address.get()) || refreshed().contains(address.get()));
  }

  /** Parses an IP address in a Host header, without name resolution. */
  static Optional<InetAddress> address(String name) {
    boolean brackets = name.startsWith("[") && name.endsWith("]");
    try {
      return Optional.of(
          InetAddress.ofLiteral(brackets ? name.substring(1, name.length() - 1) : name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private Set<InetAddress> refreshed() {
    Known before = current;
    if (nanoTime.getAsLong() - before.at() > REFRESH_INTERVAL_NANOS) {
      current = new Known(lookup.get(), nanoTime.getAsLong());
    }
    return current.addresses();
  }

  /** Returns the names, then the addresses that other machines can reach, as written in a URL. */
  public List<String> all() {
    List<String> all = new ArrayList<>(names);
    current.addresses().stream()
        .filter(one -> !one.isLoopbackAddress() && !one.isLinkLocalAddress())
        .map(MachineNames::text)
        .sorted()
        .forEach(all::add);
    return all.stream().distinct().toList();
  }

  private static String text(InetAddress address) {
    String text = address.getHostAddress().replaceFirst("%.*", "");
    return address instanceof Inet6Address ? "[" + text + "]" : text;
  }

  private static Set<String> hostName() {
    try {
      String name = Files.readString(HOST_NAME).strip();
      return name.isEmpty() || name.equals("(none)") ? Set.of() : Set.of(name);
    } catch (IOException e) {
      return Set.of(); // reachable by its addresses only
    }
  }

  private static Set<InetAddress> interfaces() {
    Set<InetAddress> addresses = new HashSet<>();
    try {
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .forEach(one -> addresses.add(unscoped(one)));
    } catch (SocketException e) {
      return Set.of(); // reachable by its names only
    }
    return addresses;
  }

  /** Removes the scope id, which a Host header does not have. */
  private static InetAddress unscoped(InetAddress address) {
    try {
      return InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address must have 4 or 16 bytes", e);
    }
  }

  private static Set<InetAddress> resolved(String name) {
    Optional<InetAddress> literal = address(name);
    try {
      return literal.isPresent()
          ? Set.of(unscoped(literal.get()))
          : Set.of(InetAddress.getAllByName(name));
    } catch (UnknownHostException e) {
      return Set.of(); // opening the port fails and reports this
    }
  }
}
