package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Locale;
import java.util.Set;

/**
 * The network modes that the operator allows. {@code host} has a consent of its own, see {@link
 * HostAccess}.
 *
 * @param allowed the modes that a spec may request
 * @param limited whether the operator limits the hosts that sandboxes reach. The server enforces
 *     that by name, which it can in mode {@code filtered} only, so no other way out is allowed then
 */
public record NetworkPolicy(Set<NetworkMode> allowed, boolean limited) {
  public NetworkPolicy {
    allowed = Set.copyOf(allowed);
  }

  /** Returns whether a spec may request a mode, apart from the consent for {@code host}. */
  public boolean permits(NetworkMode mode) {
    return switch (mode) {
      case NONE -> true; // what the server creates for itself has no network
      case FILTERED -> allowed.contains(mode);
      case BRIDGE -> allowed.contains(mode) && !limited;
      case HOST -> !limited;
    };
  }

  private static boolean isUnlimited(NetworkMode mode) {
    return mode == NetworkMode.BRIDGE || mode == NetworkMode.HOST;
  }

  /**
   * Rejects a spec whose network mode the operator does not allow.
   *
   * @throws dev.isola.spi.error.Forbidden naming the mode and how to allow it
   */
  public void check(SandboxSpec spec) {
    spec.network().mode().ifPresent(this::check);
  }

  private void check(NetworkMode mode) {
    if (permits(mode)) {
      return;
    }
    String name = mode.name().toLowerCase(Locale.ROOT);
    if (limited && isUnlimited(mode)) {
      throw refused(
          "network mode "
              + name
              + " reaches every host, and this server limits the hosts with egress.deny or"
              + " egress.limit_to",
          "use network mode filtered or none");
    }
    throw refused(
        "this server does not allow network mode " + name,
        "use another network mode, or the operator can add it to allow_networks in the"
            + " configuration");
  }

  private static SandboxException refused(String what, String remedy) {
    return Fault.of(ErrorCode.FORBIDDEN, what, remedy).exception();
  }
}
