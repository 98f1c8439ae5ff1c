package dev.isola.engine.snapshot;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A snapshot that somebody wants.
 *
 * @param scope everything that the sandbox wrote, or a folder
 * @param path the folder inside the sandbox; its workspace when empty
 * @param includes patterns of what is in the folder; everything when empty
 * @param excludes patterns of what is left out of that
 */
public record SnapshotRequest(
    Map<String, String> tags,
    Scope scope,
    Optional<String> path,
    List<String> includes,
    List<String> excludes) {

  /** How much of a sandbox is in a snapshot. */
  public enum Scope {
    /**
     * Everything that the sandbox wrote and that is its own, as far as its provider can tell; its
     * workspace where it can tell nothing else.
     */
    EVERYTHING,
    /** One folder. */
    FOLDER
  }

  /** All of the workspace. */
  public static final SnapshotRequest WORKSPACE =
      new SnapshotRequest(Map.of(), Scope.FOLDER, Optional.empty(), List.of(), List.of());

  /** Everything that the sandbox wrote. */
  public static final SnapshotRequest EVERYTHING =
      new SnapshotRequest(Map.of(), Scope.EVERYTHING, Optional.empty(), List.of(), List.of());

  /** A folder. */
  public SnapshotRequest(
      Map<String, String> tags,
      Optional<String> path,
      List<String> includes,
      List<String> excludes) {
    this(tags, Scope.FOLDER, path, includes, excludes);
  }

  public SnapshotRequest {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }

  public SnapshotRequest withTags(Map<String, String> all) {
    return new SnapshotRequest(all, scope, path, includes, excludes);
  }
}
