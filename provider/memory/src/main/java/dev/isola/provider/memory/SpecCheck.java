package dev.isola.provider.memory;

import dev.isola.provider.memory.file.Owners;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Locale;

/** Refuses what a simulation cannot give, by name, before anything is made. */
final class SpecCheck {
  private SpecCheck() {}

  static void refuseWhatCannotBe(SandboxSpec spec) {
    unlessAllowed(spec.image().isEmpty(), "images");
    unlessAllowed(spec.gpus() == 0, "gpus");
    unlessAllowed(spec.workspacePath().isEmpty(), "workspacePath");
    spec.user().ifPresent(SpecCheck::refuseOtherUser);
    spec.network()
        .mode()
        .ifPresent(
            mode ->
                unlessAllowed(
                    mode == NetworkMode.NONE,
                    "network mode " + mode.name().toLowerCase(Locale.ROOT)));
    unlessAllowed(spec.network().allowDomains().isEmpty(), "network.allowDomains");
    unlessAllowed(spec.network().blockDomains().isEmpty(), "network.blockDomains");
    spec.volumes()
        .forEach(
            volume ->
                unlessAllowed(
                    false, "volumes of type " + volume.type().name().toLowerCase(Locale.ROOT)));
  }

  /** Commands run as the one user; another one that exists is refused by name. */
  static void refuseOtherUser(String user) {
    unlessAllowed(Owners.number(user.split(":", 2)[0]) == 0, "users");
  }

  private static void unlessAllowed(boolean allowed, String what) {
    if (!allowed) {
      throw Capability.unsupported(MemoryProvider.NAME, what);
    }
  }
}
