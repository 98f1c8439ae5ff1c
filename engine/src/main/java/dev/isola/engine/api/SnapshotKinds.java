package dev.isola.engine.api;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.provider.ProviderInfo;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The kinds of snapshots that providers support, and their names. */
public final class SnapshotKinds {
  private SnapshotKinds() {}

  /** Returns the kinds of snapshots that a provider supports. */
  public static Set<Snapshot.Kind> of(ProviderInfo provider) {
    Set<Snapshot.Kind> kinds = EnumSet.noneOf(Snapshot.Kind.class);
    if (provider.capabilities().contains(Snapshotting.class)) {
      kinds.add(Snapshot.Kind.FILESYSTEM);
    }
    if (ForkKind.of(provider).contains(ForkKind.MEMORY)) {
      kinds.add(Snapshot.Kind.MEMORY);
    }
    return kinds;
  }

  /** Returns the name of a kind in requests and responses. */
  public static String wireName(Snapshot.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}
