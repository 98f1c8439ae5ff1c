package dev.isola.snapshot;

import dev.isola.snapshot.manifest.EntrySpool;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The paths that differ between two snapshots.
 *
 * @param changed files whose content, kind, permissions, owner, link target or attributes differ; a
 *     different modification time alone does not count
 */
public record SnapshotDiff(List<String> added, List<String> changed, List<String> removed) {
  /** The most bytes of paths, which are in memory. */
  private static final long MAX_BYTES = 16 << 20;

  /** What a path takes in memory beyond its bytes. */
  private static final int OVERHEAD = 64;

  /** Paths of a difference, of which there may not be too many. */
  private static final class Paths {
    private final List<String> added = new ArrayList<>();
    private final List<String> changed = new ArrayList<>();
    private final List<String> removed = new ArrayList<>();
    private long bytes;

    void add(List<String> to, String path) {
      bytes += OVERHEAD + path.length();
      if (bytes > MAX_BYTES) {
        throw tooLarge("they differ in more than " + MAX_BYTES + " bytes of paths");
      }
      to.add(path);
    }

    SnapshotDiff sorted() {
      added.sort(null);
      changed.sort(null);
      removed.sort(null);
      return new SnapshotDiff(added, changed, removed);
    }
  }

  /**
   * Compares two snapshots.
   *
   * @param spools creates files for entries, because both may be larger than the memory
   * @throws dev.isola.spi.error.LimitExceeded if they have too many entries or differences
   */
  static SnapshotDiff between(
      Iterable<SnapshotEntry> before, Iterable<SnapshotEntry> after, Supplier<EntrySpool> spools)
      throws IOException {
    Paths paths = new Paths();
    try (EntrySpool old = indexed(before, spools);
        EntrySpool recent = indexed(after, spools)) {
      for (SnapshotEntry entry : after) {
        Optional<SnapshotEntry> was = old.find(key(entry));
        if (was.isEmpty()) {
          paths.add(paths.added, entry.path());
        } else if (!same(was.get(), entry)) {
          paths.add(paths.changed, entry.path());
        }
      }
      for (SnapshotEntry entry : before) {
        if (recent.find(key(entry)).isEmpty()) {
          paths.add(paths.removed, entry.path());
        }
      }
    }
    return paths.sorted();
  }

  private static EntrySpool indexed(Iterable<SnapshotEntry> entries, Supplier<EntrySpool> spools)
      throws IOException {
    EntrySpool spool = spools.get();
    try {
      for (SnapshotEntry entry : entries) {
        spool.add(key(entry), entry);
      }
      if (!spool.buildIndex()) {
        throw tooLarge("one of them has " + spool.count() + " entries");
      }
      return spool;
    } catch (IOException | RuntimeException e) {
      spool.close();
      throw e;
    }
  }

  /** Returns a key that is not empty, as the path of the root is. */
  private static String key(SnapshotEntry entry) {
    return "/" + entry.path();
  }

  private static SandboxException tooLarge(String why) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the snapshots are too large to be compared: " + why,
            "restore both, and compare them in a sandbox")
        .exception();
  }

  private static boolean same(SnapshotEntry a, SnapshotEntry b) {
    return a.kind() == b.kind()
        && a.mode() == b.mode()
        && a.uid() == b.uid()
        && a.gid() == b.gid()
        && a.target().equals(b.target())
        && a.chunks().equals(b.chunks())
        && a.attributes().equals(b.attributes());
  }
}
