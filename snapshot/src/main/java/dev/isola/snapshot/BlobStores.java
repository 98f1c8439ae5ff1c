package dev.isola.snapshot;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.s3.S3BlobStore;
import dev.isola.snapshot.s3.S3Config;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;

/** Opens a blob store from its configured location. */
public final class BlobStores {
  private BlobStores() {}

  /**
   * Returns the blob store at a location.
   *
   * @param location empty text for {@code folder}, the path of another folder, or {@code
   *     s3://BUCKET/PREFIX}
   * @param settings the settings of a bucket; see {@link S3Config#of}
   * @param environment the environment variables that supply missing settings
   * @throws dev.isola.spi.error.InvalidRequest if the location is invalid
   */
  public static BlobStore open(
      String location,
      Path folder,
      Map<String, String> settings,
      Map<String, String> environment,
      Clock clock) {
    if (location.isEmpty()) {
      return new FolderBlobStore(folder);
    }
    if (location.startsWith("s3:")) {
      return new S3BlobStore(S3Config.of(location, settings, environment), clock);
    }
    try {
      Path other = Path.of(location);
      if (other.isAbsolute()) {
        return new FolderBlobStore(other);
      }
    } catch (InvalidPathException e) {
      // Reported below.
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "'" + location + "' is not a valid location for snapshots",
            "use the absolute path of a folder, or s3://bucket/prefix")
        .exception();
  }
}
