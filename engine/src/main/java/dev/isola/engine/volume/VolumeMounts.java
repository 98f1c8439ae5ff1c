package dev.isola.engine.volume;

import dev.isola.engine.lifecycle.SpecText;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import dev.isola.store.Ledger;
import dev.isola.store.Page;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SandboxFilter;
import dev.isola.store.Sandboxes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Tells which sandboxes have which volumes mounted, by what is written of them. */
record VolumeMounts(Ledger ledger) {
  /** On a helper sandbox: the id of the volume that it is for. */
  static final String LABEL = "isola.volume";

  /** Returns the named volumes of a spec. */
  static Stream<String> names(SandboxSpec spec) {
    return spec.volumes().stream()
        .filter(one -> one.type() == Volume.Type.VOLUME)
        .map(Volume::source)
        .distinct();
  }

  /** Returns a sandbox of a client that has a volume mounted, suspended ones among them. */
  Optional<SandboxId> sandbox(String name) {
    return find(
            SandboxFilter.ALL,
            entry -> !entry.labels().containsKey(LABEL) && hasMounted(entry, name))
        .stream()
        .findFirst();
  }

  /** Returns the helper sandboxes of a volume, also those of an earlier server. */
  List<SandboxId> helpers(String volume) {
    return find(SandboxFilter.ALL.label(LABEL, volume), entry -> true);
  }

  private List<SandboxId> find(SandboxFilter filter, Predicate<SandboxEntry> wanted) {
    List<SandboxId> found = new ArrayList<>();
    String cursor = "";
    do {
      Page page = ledger.sandboxes().list(filter.notDestroyed(), cursor, Sandboxes.MAX_LIMIT);
      page.entries().stream().filter(wanted).map(SandboxEntry::id).forEach(found::add);
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
    return found;
  }

  /** A spec that cannot be read counts as one that mounts what it names. */
  private static boolean hasMounted(SandboxEntry entry, String name) {
    if (!entry.spec().contains('"' + name + '"')) {
      return false;
    }
    try {
      return names(SpecText.read(entry.spec(), entry.id()).spec()).anyMatch(name::equals);
    } catch (SandboxException unreadable) {
      return true;
    }
  }
}
