package dev.isola.engine.api;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A request to take a snapshot.
 *
 * @param kind files, or running processes too; a snapshot of processes always has all files
 * @param allowSecrets whether the memory of a sandbox with secret variables may be stored
 * @param scope everything that the sandbox wrote, or one folder
 * @param path the folder inside the sandbox; empty for its workspace
 * @param includes patterns of files to include; empty for all
 * @param excludes patterns of files to exclude from these
 */
public record SnapshotRequest(
    Map<String, String> tags,
    Snapshot.Kind kind,
    boolean allowSecrets,
    Scope scope,
    Optional<String> path,
    List<String> includes,
    List<String> excludes) {

  private static final int MAX_TEXT = 64 << 10;

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
      new SnapshotRequest(Map.of(), Optional.empty(), List.of(), List.of());

  /** Everything that the sandbox wrote. */
  public static final SnapshotRequest EVERYTHING =
      new SnapshotRequest(Map.of(), Scope.EVERYTHING, Optional.empty(), List.of(), List.of());

  /** Everything that the sandbox wrote, and its running processes. */
  public static final SnapshotRequest MEMORY = EVERYTHING.withKind(Snapshot.Kind.MEMORY);

  /** Creates a request for one folder. */
  public SnapshotRequest(
      Map<String, String> tags,
      Optional<String> path,
      List<String> includes,
      List<String> excludes) {
    this(tags, Scope.FOLDER, path, includes, excludes);
  }

  /** Creates a request for files. */
  public SnapshotRequest(
      Map<String, String> tags,
      Scope scope,
      Optional<String> path,
      List<String> includes,
      List<String> excludes) {
    this(tags, Snapshot.Kind.FILESYSTEM, false, scope, path, includes, excludes);
  }

  /**
   * @throws dev.isola.spi.error.InvalidRequest if tags and patterns are too long, because those of
   *     all snapshots are in memory when snapshots are listed
   */
  public SnapshotRequest {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
    long length =
        Stream.of(tags.keySet(), tags.values(), includes, excludes)
            .flatMap(Collection::stream)
            .mapToLong(String::length)
            .sum();
    if (length > MAX_TEXT) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the tags and patterns of the snapshot have " + length + " characters",
              "use at most " + MAX_TEXT)
          .exception();
    }
  }

  public SnapshotRequest withTags(Map<String, String> all) {
    return new SnapshotRequest(all, kind, allowSecrets, scope, path, includes, excludes);
  }

  public SnapshotRequest withKind(Snapshot.Kind other) {
    return new SnapshotRequest(tags, other, allowSecrets, scope, path, includes, excludes);
  }

  public SnapshotRequest withAllowSecrets(boolean allowed) {
    return new SnapshotRequest(tags, kind, allowed, scope, path, includes, excludes);
  }
}
