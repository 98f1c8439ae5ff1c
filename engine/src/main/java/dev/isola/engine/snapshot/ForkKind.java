package dev.isola.engine.snapshot;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.provider.ProviderInfo;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What a fork copies from a sandbox. */
public enum ForkKind {
  /** Its files. Processes, clocks and random number generators start afresh. */
  FILESYSTEM,
  /** Its running processes, too. No provider supports this; see docs/adr/0028. */
  MEMORY;

  /** Returns the kinds of fork that a provider supports. */
  public static Set<ForkKind> of(ProviderInfo provider) {
    Set<Class<? extends Capability>> can = provider.capabilities();
    return can.contains(Forking.class) || can.contains(Snapshotting.class)
        ? EnumSet.of(FILESYSTEM)
        : EnumSet.noneOf(ForkKind.class);
  }

  /** Returns the name in requests and responses. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
