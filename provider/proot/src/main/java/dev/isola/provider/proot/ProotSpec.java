package dev.isola.provider.proot;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import java.util.Locale;

/** Refuses what another view of the files cannot give, by name, before anything is made. */
final class ProotSpec {
  /** The image that is the host's own root. */
  static final String HOST = "host";

  private ProotSpec() {}

  static void refuseWhatCannotBe(String provider, SandboxSpec spec) {
    SpecValidation.refuse(SpecValidation.hostViolations(spec));
    unlessAllowed(provider, spec.user().isEmpty(), "users");
    unlessAllowed(provider, spec.gpus() == 0, "gpus");
    unlessAllowed(provider, spec.volumes().isEmpty(), volumes(spec));
    spec.network()
        .mode()
        .ifPresent(
            mode ->
                unlessAllowed(
                    provider,
                    mode == NetworkMode.HOST,
                    "network mode " + mode.name().toLowerCase(Locale.ROOT)));
    unlessAllowed(provider, spec.network().allowDomains().isEmpty(), "network.allowDomains");
    unlessAllowed(provider, spec.network().blockDomains().isEmpty(), "network.blockDomains");
  }

  /** It can show a folder of the host's elsewhere, but not make it read only. */
  private static String volumes(SandboxSpec spec) {
    return spec.volumes().isEmpty()
        ? "volumes"
        : "volumes of type " + spec.volumes().getFirst().type().name().toLowerCase(Locale.ROOT);
  }

  private static void unlessAllowed(String provider, boolean allowed, String what) {
    if (!allowed) {
      throw Capability.unsupported(provider, what);
    }
  }
}
