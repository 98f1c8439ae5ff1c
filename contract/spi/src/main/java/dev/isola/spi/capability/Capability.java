package dev.isola.spi.capability;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Optional;

/**
 * Something a sandbox can do beyond the required. A provider that declares one ({@link
 * dev.isola.spi.ProviderInfo#capabilities()}) returns it from {@link dev.isola.spi.Sandbox#as}, and
 * one that does not, does not: the conformance kit holds both.
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
        Forking {

  /** Returns all capabilities there are. */
  static List<Class<? extends Capability>> all() {
    return List.of(
        Attaching.class,
        Terminals.class,
        Watching.class,
        PortDialing.class,
        UsageReporting.class,
        Pausing.class,
        Renewing.class,
        Snapshotting.class,
        Forking.class);
  }

  /** Returns the name used in reports and errors: {@code port-dialing} for {@link PortDialing}. */
  static String nameOf(Class<? extends Capability> capability) {
    return capability
        .getSimpleName()
        .replaceAll("(?<=.)([A-Z])", "-$1")
        .toLowerCase(java.util.Locale.ROOT);
  }

  static Optional<Class<? extends Capability>> named(String name) {
    for (Class<? extends Capability> capability : all()) {
      if (nameOf(capability).equals(name)) {
        return Optional.of(capability);
      }
    }
    return Optional.empty();
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
