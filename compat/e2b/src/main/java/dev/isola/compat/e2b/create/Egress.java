package dev.isola.compat.e2b.create;

import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import java.util.List;
import java.util.Map;

/**
 * The egress rules of an E2B create request. "No network" can be enforced, and so can a deny rule
 * where the sandbox has no network anyway. Every other rule is rejected rather than ignored.
 *
 * @param internet whether the sandbox may reach the internet
 * @param denies whether some destinations are denied
 */
record Egress(boolean internet, boolean denies) {
  private static final String EVERYTHING = "0.0.0.0/0";
  private static final List<String> UNSUPPORTED =
      List.of("allowOut", "rules", "egressProxy", "dnsServers", "httpsPorts");

  /**
   * Reads the rules of a request.
   *
   * @param access the older {@code allow_internet_access} flag
   */
  static Egress of(E2bRequestBody rules, boolean access) {
    for (String name : UNSUPPORTED) {
      boolean present =
          switch (rules.fields().get(name)) {
            case null -> false;
            case List<?> list -> !list.isEmpty();
            case Map<?, ?> map -> !map.isEmpty();
            default -> true;
          };
      if (present) {
        throw unsupported(name);
      }
    }
    List<String> denied = rules.texts("denyOut");
    return new Egress(access && !denied.contains(EVERYTHING), !denied.isEmpty());
  }

  /**
   * Returns the network that enforces these rules.
   *
   * @param allowedMode the network mode of sandboxes that may reach the internet
   */
  Network network(NetworkMode allowedMode) {
    if (!internet || (denies && allowedMode == NetworkMode.NONE)) {
      return Network.of(NetworkMode.NONE);
    }
    if (denies) {
      throw unsupported("denyOut");
    }
    return allowedMode == NetworkMode.NONE ? Network.DEFAULT : Network.of(allowedMode);
  }

  private static SandboxException unsupported(String name) {
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "network." + name + " is not supported",
            "omit it, or set allow_internet_access to false")
        .exception();
  }
}
