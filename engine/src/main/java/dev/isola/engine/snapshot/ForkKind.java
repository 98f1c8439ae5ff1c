package dev.isola.engine.snapshot;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.provider.ProviderInfo;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What of a sandbox its forks begin with. */
public enum ForkKind {
  /** Its files. Processes, clocks and random numbers begin anew. */
  FILESYSTEM,
  /** Its processes too, as they are at the moment. No provider can; see docs/adr/0028. */
  MEMORY;

  /** Returns the kinds that sandboxes of a provider can be forked by. */
  public static Set<ForkKind> of(ProviderInfo provider) {
    Set<Class<? extends Capability>> can = provider.capabilities();
    return can.contains(Forking.class) || can.contains(Snapshotting.class)
        ? EnumSet.of(FILESYSTEM)
        : EnumSet.noneOf(ForkKind.class);
  }

  /** Returns its name in requests and answers. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
