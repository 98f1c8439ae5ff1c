package dev.isola.snapshot.manifest;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The metadata of a snapshot, without its entries.
 *
 * @param sandbox the sandbox whose files were captured
 * @param provider the provider of the sandbox, which implies the type of its runtime
 * @param runtime the version of Isola that captured it
 * @param architecture the architecture, as named by Java
 * @param parent the previous snapshot of the same sandbox
 * @param root the captured folder of the sandbox
 * @param files the number of entries, including folders and links
 * @param bytes the total size of the content
 * @param newBytes the size of the content that the store did not have before
 * @param storedBytes the number of bytes that the new content takes in the store
 * @param checksum the SHA-256 of the list of entries, which includes the id of every chunk
 * @param kind what was captured
 * @param image the image below the files; empty for the provider's default
 * @param coverage what is covered if the snapshot has everything that the sandbox wrote, with paths
 *     from {@code /}; empty for a snapshot of one folder
 * @param source the sandbox whose processes were captured; empty for files only
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
    Optional<SnapshotCoverage> coverage,
    Optional<ProcessSource> source) {

  /**
   * The scope of a snapshot of everything that a sandbox wrote.
   *
   * @param imageDigest the image whose changes are included; empty if only folders are
   * @param folders the folders that are included completely
   */
  public record SnapshotCoverage(Optional<String> imageDigest, List<String> folders) {
    public SnapshotCoverage {
      folders = List.copyOf(folders);
    }
  }

  /**
   * What a sandbox must equal to continue the captured processes. It is stored, because a snapshot
   * outlives its sandbox.
   *
   * @param spec the spec of the sandbox as JSON, without its id, image and secret variables
   * @param secretNames the names of its secret variables; memory may contain their values
   */
  public record ProcessSource(String spec, List<String> secretNames) {
    public ProcessSource {
      secretNames = List.copyOf(secretNames);
    }
  }

  /** What was captured of a sandbox. */
  public enum Kind {
    /** Files only; processes start again after a restore. */
    FILESYSTEM,
    /** Files and processes. */
    MEMORY
  }

  /** Creates the metadata of a filesystem snapshot of one folder that depends on no image. */
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
        Optional.empty(),
        Optional.empty());
  }

  public Snapshot {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }
}
