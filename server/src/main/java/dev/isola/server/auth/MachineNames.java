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
 * The names and addresses by which clients reach a server, which follow from where it listens: all
 * addresses of the machine and its host name when it listens on all of them, otherwise the one
 * address. A page of another site cannot use them: its requests name that site.
 */
public final class MachineNames {
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::", "[::]");
  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  /** Addresses come and go; unknown names must not make the machine look for them each time. */
  private static final long LOOK_EVERY = TimeUnit.SECONDS.toNanos(1);

  private final Set<String> names = new LinkedHashSet<>();
  private final Supplier<Set<InetAddress>> look;
  private final LongSupplier nanoTime;
  private volatile Known known;

  private record Known(Set<InetAddress> addresses, long at) {}

  MachineNames(Set<String> names, Supplier<Set<InetAddress>> look, LongSupplier nanoTime) {
    names.forEach(name -> this.names.add(name.toLowerCase(Locale.ROOT)));
    this.look = look;
    this.nanoTime = nanoTime;
    this.known = new Known(look.get(), nanoTime.getAsLong());
  }

  /** Returns those of a server that listens on an address or name of this machine. */
  public static MachineNames of(String listening) {
    if (HostOriginFilter.isLoopback(listening)) {
      return new MachineNames(Set.of(), Set::of, System::nanoTime);
    }
    return WILDCARDS.contains(listening)
        ? new MachineNames(hostName(), MachineNames::interfaces, System::nanoTime)
        : new MachineNames(Set.of(listening), () -> resolved(listening), System::nanoTime);
  }

  /**
   * Tells whether a client may mean this server by that name.
   *
   * @param name in lower case, without a port; an address of IPv6 in brackets
   */
  boolean contains(String name) {
    if (names.contains(name)) {
      return true;
    }
    Optional<InetAddress> address = address(name);
    return address.isPresent()
        && (known.addresses().contains(address.get()) || refreshed().contains(address.get()));
  }

  /** Reads an address as a Host header has it; asks no name server. */
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
    Known before = known;
    if (nanoTime.getAsLong() - before.at() > LOOK_EVERY) {
      known = new Known(look.get(), nanoTime.getAsLong());
    }
    return known.addresses();
  }

  /** Returns names first, then addresses that others can reach, as they stand in a URL. */
  public List<String> all() {
    List<String> all = new ArrayList<>(names);
    known.addresses().stream()
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
      return Set.of(); // then it is reached by its addresses
    }
  }

  private static Set<InetAddress> interfaces() {
    Set<InetAddress> addresses = new HashSet<>();
    try {
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .forEach(one -> addresses.add(unscoped(one)));
    } catch (SocketException e) {
      return Set.of(); // then it is reached by its names
    }
    return addresses;
  }

  /** A Host header has no scope. */
  private static InetAddress unscoped(InetAddress address) {
    try {
      return InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has 4 or 16 bytes", e);
    }
  }

  private static Set<InetAddress> resolved(String name) {
    Optional<InetAddress> literal = address(name);
    try {
      return literal.isPresent()
          ? Set.of(unscoped(literal.get()))
          : Set.of(InetAddress.getAllByName(name));
    } catch (UnknownHostException e) {
      return Set.of(); // the port cannot be opened then, which is told
    }
  }
}
