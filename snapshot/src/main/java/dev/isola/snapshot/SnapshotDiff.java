package dev.isola.snapshot;

import dev.isola.snapshot.manifest.SnapshotEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The paths that differ between two snapshots.
 *
 * @param changed files whose content, kind, permissions, owner, link target or attributes differ; a
 *     different modification time alone does not count
 */
public record SnapshotDiff(List<String> added, List<String> changed, List<String> removed) {

  public static SnapshotDiff between(List<SnapshotEntry> before, List<SnapshotEntry> after) {
    Map<String, SnapshotEntry> old = new HashMap<>();
    before.forEach(entry -> old.put(entry.path(), entry));
    List<String> added = new ArrayList<>();
    List<String> changed = new ArrayList<>();
    for (SnapshotEntry entry : after) {
      SnapshotEntry was = old.remove(entry.path());
      if (was == null) {
        added.add(entry.path());
      } else if (!same(was, entry)) {
        changed.add(entry.path());
      }
    }
    added.sort(null);
    changed.sort(null);
    return new SnapshotDiff(added, changed, old.keySet().stream().sorted().toList());
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
