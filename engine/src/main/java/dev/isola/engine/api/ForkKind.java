package dev.isola.engine.api;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.provider.ProviderInfo;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What a fork copies from a sandbox. */
public enum ForkKind {
  /** Its files. Processes, clocks and random number generators start afresh. */
  FILESYSTEM,
  /** Its running processes, too: they continue in the fork. */
  MEMORY;

  /** Returns the kinds of fork that a provider supports. */
  public static Set<ForkKind> of(ProviderInfo provider) {
    Set<Class<? extends Capability>> can = provider.capabilities();
    Set<ForkKind> kinds = EnumSet.noneOf(ForkKind.class);
    if (can.contains(Forking.class) || can.contains(Snapshotting.class)) {
      kinds.add(FILESYSTEM);
    }
    if (can.contains(MemoryForking.class)) {
      kinds.add(MEMORY);
    }
    return kinds;
  }

  /** Returns the name in requests and responses. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
