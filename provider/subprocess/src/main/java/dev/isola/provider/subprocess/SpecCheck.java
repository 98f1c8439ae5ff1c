package dev.isola.provider.subprocess;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Volume;
import java.util.Locale;

/** Refuses what a plain process cannot give, by name, before anything is made. */
final class SpecCheck {
  private SpecCheck() {}

  static void refuseWhatCannotBe(String provider, SandboxSpec spec) {
    SpecValidation.refuse(SpecValidation.hostViolations(spec));
    unlessAllowed(provider, spec.image().isEmpty(), "images");
    unlessAllowed(provider, spec.user().isEmpty() || ProcessUser.isRoot(), "users");
    unlessAllowed(provider, spec.gpus() == 0, "gpus");
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
    for (Volume volume : spec.volumes()) {
      unlessAllowed(
          provider,
          volume.type() == Volume.Type.BIND,
          "volumes of type " + volume.type().name().toLowerCase(Locale.ROOT));
      unlessAllowed(
          provider,
          volume.destination().startsWith(spec.workspaceMount() + "/"),
          "mounts outside " + spec.workspaceMount() + " (" + volume.destination() + ")");
    }
  }

  private static void unlessAllowed(String provider, boolean allowed, String what) {
    if (!allowed) {
      throw Capability.unsupported(provider, what);
    }
  }
}
