package dev.isola.provider.memory;

import dev.isola.provider.memory.file.Owners;
import dev.isola.spi.capability.Capability;

/** Refuses what a simulation cannot give, by name, before anything is made. */
final class SpecCheck {
  private SpecCheck() {}

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
