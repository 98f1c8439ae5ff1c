package dev.isola.spi.capability;

import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Captures the files of a sandbox at one moment, exactly enough to restore them, and restores such
 * captures. The provider only streams archives; the caller stores them.
 *
 * <p>The format is tar with pax records: modification times to the nanosecond, numeric owners, and
 * extended attributes of the {@code user.} namespace. Devices, pipes and sockets are omitted. A
 * file deleted from the image is an entry of type {@code W}. In addition, a regular file may have
 * these pax records:
 *
 * <ul>
 *   <li>{@value #MARK}: an opaque version tag. While the tag is the same, the entry is the same
 *       file with unchanged content and metadata, even under another name.
 *   <li>{@value #UNCHANGED}: the size of a file that has not changed after {@link
 *       CaptureRequest#since}. Its content and other metadata are omitted.
 *   <li>{@value #SPARSE}, in an entry of type {@code S} and only if {@link CaptureRequest#sparse}:
 *       the size of the file, then offset and length of each range that holds data, in order,
 *       separated by spaces. The content is the data of these ranges.
 * </ul>
 */
public non-sealed interface Snapshotting extends Capability {
  /** The pax record that holds the version tag of a file. */
  String MARK = "ISOLA.mark";

  /** The pax record of a file whose content is omitted. */
  String UNCHANGED = "ISOLA.unchanged";

  /** The pax record of a file without its holes. */
  String SPARSE = "ISOLA.sparse";

  /** The maximum length of a {@link #MARK} value. */
  int MAX_MARK_LENGTH = 96;

  /**
   * The files written by the sandbox that a capture can cover. Volumes, and files that every boot
   * recreates, are never included.
   *
   * @param image the digest of the image whose changes, deletions included, are covered; empty if
   *     changes to an image cannot be captured
   * @param folders the folders that are covered completely
   */
  record Coverage(Optional<String> image, List<String> folders) {
    public Coverage {
      folders = List.copyOf(folders);
    }

    /** Returns this coverage without {@code folder}. */
    public Coverage withoutFolder(String folder) {
      return new Coverage(image, folders.stream().filter(one -> !one.equals(folder)).toList());
    }
  }

  /**
   * Selects what to capture.
   *
   * @param path the folder inside the sandbox
   * @param includes patterns of the files to capture, together with their parent folders; empty for
   *     all files
   * @param excludes patterns of files to omit from those
   * @param since {@link CaptureResult#capturedAt} of an earlier capture of the same sandbox whose
   *     content the caller still has, or 0. A provider that cannot detect changes sends all files
   * @param freeze whether commands are frozen during the capture
   * @param written captures the files that the sandbox wrote, instead of a folder; at most {@link
   *     #coverage()}. Names in the archive are then relative to the root, and patterns are ignored
   * @param sparse whether the archive may omit the holes of sparse files. A provider that cannot
   *     detect holes sends zeros
   */
  record CaptureRequest(
      String path,
      List<String> includes,
      List<String> excludes,
      long since,
      boolean freeze,
      Optional<Coverage> written,
      boolean sparse) {
    public CaptureRequest {
      includes = List.copyOf(includes);
      excludes = List.copyOf(excludes);
    }

    public CaptureRequest(
        String path, List<String> includes, List<String> excludes, long since, boolean hold) {
      this(path, includes, excludes, since, hold, Optional.empty(), false);
    }

    /** Returns a request for the files that the sandbox wrote. */
    public static CaptureRequest written(Coverage coverage) {
      return new CaptureRequest("/", List.of(), List.of(), 0, false, Optional.of(coverage), false);
    }

    /** Returns a request for a whole folder. */
    public static CaptureRequest of(String path) {
      return new CaptureRequest(path, List.of(), List.of(), 0, false);
    }

    public CaptureRequest since(long moment) {
      return new CaptureRequest(path, includes, excludes, moment, freeze, written, sparse);
    }

    public CaptureRequest frozen() {
      return new CaptureRequest(path, includes, excludes, since, true, written, sparse);
    }

    /** Returns a request whose archive may omit the holes of sparse files. */
    public CaptureRequest withoutHoles() {
      return new CaptureRequest(path, includes, excludes, since, freeze, written, true);
    }
  }

  /**
   * Facts about a capture, known once its archive was read to the end.
   *
   * @param capturedAt the value for {@link CaptureRequest#since} of the next capture, or 0 if
   *     changes cannot be detected
   * @param frozenFor how long commands were frozen
   */
  record CaptureResult(long capturedAt, Duration frozenFor) {}

  /** A capture in progress. Closing it early cancels the capture and unfreezes commands. */
  interface Capture extends AutoCloseable {
    /** Returns the archive as a stream; it is produced while it is read. */
    InputStream archive();

    /**
     * Returns the result of the capture.
     *
     * @throws IllegalStateException if the archive was not read to its end
     */
    CaptureResult result();

    @Override
    void close();
  }

  /**
   * Starts a capture.
   *
   * @throws dev.isola.spi.error.NotFound if the folder does not exist
   * @throws dev.isola.spi.error.Unsupported if the request asks to freeze commands and the provider
   *     cannot
   */
  Capture capture(CaptureRequest request);

  /**
   * Returns what {@link CaptureRequest#written} can capture of this sandbox, or empty if only
   * folders can be captured.
   */
  Optional<Coverage> coverage();

  /**
   * Applies an archive of changes to the root of the sandbox: removes the entries of type {@code W}
   * and restores all others as {@link #restore} does. Nothing is written into file systems mounted
   * over the root.
   *
   * @throws dev.isola.spi.error.Unsupported if the sandbox does not have a root of its own
   */
  TreeSummary restoreChanges(InputStream archive, TreeLimits limits);

  /**
   * Restores the files of an archive beneath the folder {@code path}, including owners where the
   * sandbox may change them. Rejects the same entries as {@link
   * dev.isola.spi.file.FileSystem#importTree}.
   */
  TreeSummary restore(String path, InputStream archive, TreeLimits limits);
}
