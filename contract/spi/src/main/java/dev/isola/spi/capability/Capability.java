package dev.isola.spi.capability;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Optional;

/**
 * Something a sandbox can do beyond the required. A provider that declares one ({@link
 * dev.isola.spi.provider.ProviderInfo#capabilities()}) returns it from {@link
 * dev.isola.spi.capability.Sandbox#as}, and one that does not, does not: the conformance kit holds
 * both. {@link Volumes} alone is the provider's own, returned by {@link
 * dev.isola.spi.provider.Provider#volumes()}.
 */
public sealed interface Capability
    permits Attaching,
        Terminals,
        Watching,
        PortDialing,
        UsageReporting,
        Pausing,
        Renewing,
        Snapshotting,
        Forking,
        Volumes {

  /** Returns all capabilities there are. */
  static List<Class<? extends Capability>> all() {
    return CapabilityId.ALL;
  }

  /**
   * Returns the stable id of a capability: {@code port-dialing} for {@link PortDialing}. Spec
   * documents, reports and errors name capabilities by it.
   */
  static String idOf(Class<? extends Capability> capability) {
    return CapabilityId.of(capability).id;
  }

  /** Returns the capability with an id; empty when there is none. */
  static Optional<Class<? extends Capability>> withId(String id) {
    return CapabilityId.find(id).map(found -> found.type);
  }

  /** Returns the refusal for something {@code provider} does not do. */
  static SandboxException unsupported(String provider, String capability) {
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "provider " + provider + " does not support " + capability,
            "choose a provider that declares it (isola providers)")
        .with("provider", provider)
        .with("capability", capability)
        .exception();
  }
}
