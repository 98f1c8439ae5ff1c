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
 * What E2B's clients want a sandbox to reach. Nothing at all can be kept, and so can every rule
 * that forbids something where there is no network; all else is refused, and never passed over.
 *
 * @param internet whether anything is to be reached
 * @param denies whether something of it is not
 */
record Egress(boolean internet, boolean denies) {
  private static final String EVERYTHING = "0.0.0.0/0";
  private static final List<String> REFUSED =
      List.of("allowOut", "rules", "egressProxy", "dnsServers");

  /**
   * @param access says whether there is an internet, in words that are older than rules
   */
  static Egress of(E2bRequestBody rules, boolean access) {
    for (String name : REFUSED) {
      boolean said =
          switch (rules.fields().get(name)) {
            case null -> false;
            case List<?> list -> !list.isEmpty();
            case Map<?, ?> map -> !map.isEmpty();
            default -> true;
          };
      if (said) {
        throw unsupported(name);
      }
    }
    List<String> denied = rules.texts("denyOut");
    return new Egress(access && !denied.contains(EVERYTHING), !denied.isEmpty());
  }

  /**
   * Returns the network that keeps it.
   *
   * @param given what sandboxes have that may have the internet
   */
  Network network(NetworkMode given) {
    if (!internet || (denies && given == NetworkMode.NONE)) {
      return Network.of(NetworkMode.NONE);
    }
    if (denies) {
      throw unsupported("denyOut");
    }
    return given == NetworkMode.NONE ? Network.DEFAULT : Network.of(given);
  }

  private static SandboxException unsupported(String name) {
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "network." + name + " cannot be kept here",
            "leave it out, or set allow_internet_access to false")
        .exception();
  }
}
