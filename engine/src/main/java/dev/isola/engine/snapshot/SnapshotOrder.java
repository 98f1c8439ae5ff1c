package dev.isola.engine.snapshot;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A snapshot that somebody wants.
 *
 * @param path the folder inside the sandbox; its workspace when empty
 * @param includes patterns of what is in it; everything when empty
 */
public record SnapshotOrder(
    Map<String, String> tags, Optional<String> path, List<String> includes, List<String> excludes) {
  /** All of the workspace. */
  public static final SnapshotOrder WORKSPACE =
      new SnapshotOrder(Map.of(), Optional.empty(), List.of(), List.of());

  public SnapshotOrder {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }

  public SnapshotOrder withTags(Map<String, String> all) {
    return new SnapshotOrder(all, path, includes, excludes);
  }
}
