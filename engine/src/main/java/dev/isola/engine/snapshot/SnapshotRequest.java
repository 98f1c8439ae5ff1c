package dev.isola.engine.snapshot;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request to take a snapshot.
 *
 * @param scope everything that the sandbox wrote, or one folder
 * @param path the folder inside the sandbox; empty for its workspace
 * @param includes patterns of files to include; empty for all
 * @param excludes patterns of files to exclude from these
 */
public record SnapshotRequest(
    Map<String, String> tags,
    Scope scope,
    Optional<String> path,
    List<String> includes,
    List<String> excludes) {

  /** The scope of a snapshot. */
  public enum Scope {
    /**
     * Everything that the sandbox wrote, as far as the provider can tell; the workspace if it
     * cannot.
     */
    EVERYTHING,
    /** One folder. */
    FOLDER
  }

  /** The whole workspace. */
  public static final SnapshotRequest WORKSPACE =
      new SnapshotRequest(Map.of(), Scope.FOLDER, Optional.empty(), List.of(), List.of());

  /** Everything that the sandbox wrote. */
  public static final SnapshotRequest EVERYTHING =
      new SnapshotRequest(Map.of(), Scope.EVERYTHING, Optional.empty(), List.of(), List.of());

  /** Creates a request for one folder. */
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
