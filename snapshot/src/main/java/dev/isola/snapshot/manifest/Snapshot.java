package dev.isola.snapshot.manifest;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is known of a snapshot without its list of files.
 *
 * @param sandbox whose files they were
 * @param provider that ran it, and so the runtime's type
 * @param runtime the version of Isola that took it
 * @param architecture as Java names it
 * @param parent the snapshot before it in the same line
 * @param root the folder inside the sandbox that was taken
 * @param files how many there are, folders and links among them
 * @param bytes of content in all
 * @param newBytes of content that the store did not have before
 * @param storedBytes that those take in the store
 * @param checksum SHA-256 over the list of files, which has the checksum of every chunk
 * @param kind what was kept of the sandbox
 * @param image that its files stand on; empty for the provider's own
 * @param written what of the sandbox is in it when it is everything that was written, with paths
 *     from {@code /} on; empty for one folder
 */
public record Snapshot(
    String id,
    Instant createdAt,
    String sandbox,
    String provider,
    String runtime,
    String architecture,
    Map<String, String> tags,
    Optional<String> parent,
    String root,
    List<String> includes,
    List<String> excludes,
    long files,
    long bytes,
    long newBytes,
    long storedBytes,
    String checksum,
    Kind kind,
    Optional<String> image,
    Optional<SnapshotCoverage> coverage) {

  /**
   * Everything that a sandbox wrote.
   *
   * @param imageDigest of the image whose changes are among it; empty where there are only folders
   * @param folders that are in it whole
   */
  public record SnapshotCoverage(Optional<String> imageDigest, List<String> folders) {
    public SnapshotCoverage {
      folders = List.copyOf(folders);
    }
  }

  /** What was kept of a sandbox. */
  public enum Kind {
    /** Its files; its processes begin anew. */
    FILESYSTEM,
    /** Its processes too. */
    MEMORY
  }

  /** A snapshot of files that stand on nothing in particular. */
  public Snapshot(
      String id,
      Instant createdAt,
      String sandbox,
      String provider,
      String runtime,
      String architecture,
      Map<String, String> tags,
      Optional<String> parent,
      String root,
      List<String> includes,
      List<String> excludes,
      long files,
      long bytes,
      long newBytes,
      long storedBytes,
      String checksum) {
    this(
        id,
        createdAt,
        sandbox,
        provider,
        runtime,
        architecture,
        tags,
        parent,
        root,
        includes,
        excludes,
        files,
        bytes,
        newBytes,
        storedBytes,
        checksum,
        Kind.FILESYSTEM,
        Optional.empty(),
        Optional.empty());
  }

  public Snapshot {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }
}
