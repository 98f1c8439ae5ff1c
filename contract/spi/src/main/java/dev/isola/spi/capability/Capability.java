package dev.isola.spi.capability;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Optional;

/**
 * An optional feature of a sandbox. If a provider declares a capability in {@link
 * dev.isola.spi.provider.ProviderInfo#capabilities()}, then {@link
 * dev.isola.spi.capability.Sandbox#as} returns it for every sandbox of that provider; otherwise
 * {@code as} returns empty. The conformance kit checks both. {@link Volumes} is the exception: it
 * belongs to the provider, and {@link dev.isola.spi.provider.Provider#volumes()} returns it.
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
        MemoryForking,
        Volumes {

  /** Returns all capabilities. */
  static List<Class<? extends Capability>> all() {
    return CapabilityId.ALL;
  }

  /**
   * Returns the stable id of a capability, such as {@code port-dialing} for {@link PortDialing}.
   * Spec documents, reports and errors refer to capabilities by this id.
   */
  static String idOf(Class<? extends Capability> capability) {
    return CapabilityId.of(capability).id;
  }

  /** Returns the capability with this id, or empty if the id is unknown. */
  static Optional<Class<? extends Capability>> withId(String id) {
    return CapabilityId.find(id).map(found -> found.type);
  }

  /** Returns the exception for a feature that {@code provider} does not support. */
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
