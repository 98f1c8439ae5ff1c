package dev.isola.engine.api.volume;

import dev.isola.engine.sandbox.VolumeResolver;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.EntryFilter;
import dev.isola.store.EntryPage;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Determines from the ledger which sandboxes mount which volumes. */
record VolumeMounts(Ledger ledger) {
  /** The label on a helper sandbox; its value is the volume id. */
  static final String LABEL = "isola.volume";

  /** Returns a client sandbox that mounts a volume, including suspended ones. */
  Optional<SandboxId> sandbox(String name) {
    return find(
            EntryFilter.ALL, entry -> !entry.labels().containsKey(LABEL) && hasMounted(entry, name))
        .stream()
        .findFirst();
  }

  /** Returns the helper sandboxes of a volume, including those of an earlier server. */
  List<SandboxId> helpers(String volume) {
    return find(EntryFilter.ALL.label(LABEL, volume), entry -> true);
  }

  private List<SandboxId> find(EntryFilter filter, Predicate<SandboxEntry> wanted) {
    List<SandboxId> found = new ArrayList<>();
    String cursor = "";
    do {
      EntryPage page =
          ledger.sandboxes().list(filter.notDestroyed(), cursor, SandboxEntries.MAX_LIMIT);
      page.entries().stream().filter(wanted).map(SandboxEntry::id).forEach(found::add);
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
    return found;
  }

  /**
   * Returns whether a sandbox mounts a volume. An unreadable spec counts as mounting what it names.
   */
  private static boolean hasMounted(SandboxEntry entry, String name) {
    if (!entry.spec().contains('"' + name + '"')) {
      return false;
    }
    try {
      return VolumeResolver.names(SpecCodec.decode(entry.spec(), entry.id()).spec())
          .anyMatch(name::equals);
    } catch (SandboxException unreadable) {
      return true;
    }
  }
}
