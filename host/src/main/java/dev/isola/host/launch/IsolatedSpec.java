package dev.isola.host.launch;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.LimitKind;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;

/**
 * Refuses what an isolated sandbox on this machine cannot give, by name, before anything is made.
 */
final class IsolatedSpec {
  /** The image that is the host's own root. */
  static final String HOST = "host";

  private IsolatedSpec() {}

  static void refuseWhatCannotBe(String provider, SandboxSpec spec) {
    SpecValidation.refuse(SpecValidation.hostViolations(spec));
    SpecValidation.refuse(EngineSockets.here().violations(spec));
    unlessAllowed(provider, spec.gpus() == 0, "gpus");
    unlessAllowed(provider, spec.user().isEmpty() || Users.areRanges(), "users");
    unlessAllowed(
        provider,
        spec.network().mode().filter(mode -> mode == NetworkMode.HOST).isEmpty()
            || !spec.limits().required().contains(LimitKind.BANDWIDTH),
        "enforcing the limit of bandwidth in network mode host");
    unlessAllowed(provider, spec.network().allowDomains().isEmpty(), "network.allowDomains");
    unlessAllowed(provider, spec.network().blockDomains().isEmpty(), "network.blockDomains");
  }

  private static void unlessAllowed(String provider, boolean allowed, String what) {
    if (!allowed) {
      throw Capability.unsupported(provider, what);
    }
  }
}
