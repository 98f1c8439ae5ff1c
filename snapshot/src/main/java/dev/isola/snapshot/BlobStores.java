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

/** Where a store is, as somebody wrote it down. */
public final class BlobStores {
  private BlobStores() {}

  /**
   * Returns the blobs of a place.
   *
   * @param place empty for {@code folder}, the path of another folder, or {@code
   *     s3://BUCKET/PREFIX}
   * @param settings of a bucket; see {@link S3Config#of}
   * @param environment where they may stand instead
   * @throws dev.isola.spi.error.InvalidRequest for what cannot be
   */
  public static BlobStore open(
      String place,
      Path folder,
      Map<String, String> settings,
      Map<String, String> environment,
      Clock clock) {
    if (place.isEmpty()) {
      return new FolderBlobStore(folder);
    }
    if (place.startsWith("s3:")) {
      return new S3BlobStore(S3Config.of(place, settings, environment), clock);
    }
    try {
      Path other = Path.of(place);
      if (other.isAbsolute()) {
        return new FolderBlobStore(other);
      }
    } catch (InvalidPathException e) {
      // Told below.
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "'" + place + "' is no place for snapshots",
            "name a folder by its whole path, or write s3://bucket/prefix")
        .exception();
  }
}
