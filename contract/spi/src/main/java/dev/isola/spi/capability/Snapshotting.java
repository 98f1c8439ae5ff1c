package dev.isola.spi.capability;

import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Gives out the files of a folder as they are at one moment, exactly enough to make them once more,
 * and makes them. Who calls keeps them; a provider knows of no store.
 *
 * <p>The archive is tar with pax records: times to the nanosecond, owners as numbers, extended
 * attributes of the {@code user.} space. Devices, pipes and sockets are left out. What was removed
 * from an image is an entry of type {@code W}. Beside them every regular file may have
 *
 * <ul>
 *   <li>{@value #MARK}: as long as this text is the same, it is the same file and nothing of it has
 *       changed, whatever it is called now;
 *   <li>{@value #UNCHANGED}: its size, in place of its content and everything else that is known of
 *       it, because {@link CaptureRequest#since} is after its last change.
 * </ul>
 */
public non-sealed interface Snapshotting extends Capability {
  /** The pax record by which a file is known again. */
  String MARK = "ISOLA.mark";

  /** The pax record of a file whose content is left out. */
  String UNCHANGED = "ISOLA.unchanged";

  /** The longest text that {@link #MARK} may have. */
  int MAX_MARK_LENGTH = 96;

  /**
   * The files that a sandbox wrote and that are its own: no volumes, nothing that a boot makes
   * anew.
   *
   * @param image the digest of the image whose changes are among them, with what was removed from
   *     it; empty where changes of an image are not told
   * @param folders that are among them whole
   */
  record Coverage(Optional<String> image, List<String> folders) {
    public Coverage {
      folders = List.copyOf(folders);
    }

    /** Returns the same without one folder. */
    public Coverage withoutFolder(String folder) {
      return new Coverage(image, folders.stream().filter(one -> !one.equals(folder)).toList());
    }
  }

  /**
   * What a picture is to show.
   *
   * @param path the folder inside the sandbox
   * @param includes patterns of what is in it, with the folders that lead there; everything when
   *     empty
   * @param excludes patterns of what is left out of that
   * @param since {@link CaptureResult#capturedAt} of an earlier picture of the same sandbox, whose
   *     content the caller has; 0 for none. Who cannot tell what changed sends everything
   * @param hold whether no command may go on meanwhile
   * @param written what the sandbox wrote, instead of a folder; at most {@link #coverage()}. Names
   *     in the archive begin at the root then, and patterns do not apply
   */
  record CaptureRequest(
      String path,
      List<String> includes,
      List<String> excludes,
      long since,
      boolean freeze,
      Optional<Coverage> written) {
    public CaptureRequest {
      includes = List.copyOf(includes);
      excludes = List.copyOf(excludes);
    }

    public CaptureRequest(
        String path, List<String> includes, List<String> excludes, long since, boolean hold) {
      this(path, includes, excludes, since, hold, Optional.empty());
    }

    /** What the sandbox wrote. */
    public static CaptureRequest written(Coverage coverage) {
      return new CaptureRequest("/", List.of(), List.of(), 0, false, Optional.of(coverage));
    }

    /** All of a folder. */
    public static CaptureRequest of(String path) {
      return new CaptureRequest(path, List.of(), List.of(), 0, false);
    }

    public CaptureRequest since(long moment) {
      return new CaptureRequest(path, includes, excludes, moment, freeze, written);
    }

    public CaptureRequest frozen() {
      return new CaptureRequest(path, includes, excludes, since, true, written);
    }
  }

  /**
   * What is known of a picture once all of it was read.
   *
   * @param moment for {@link CaptureRequest#since} of the next one; 0 where nobody can tell what
   *     changed
   * @param held how long commands were held
   */
  record CaptureResult(long capturedAt, Duration frozenFor) {}

  /** A picture that is being taken. Closing it early ends it, and lets commands go on. */
  interface Capture extends AutoCloseable {
    /** Returns the archive, while it is made. */
    InputStream archive();

    /**
     * Returns what is known now.
     *
     * @throws IllegalStateException when the archive was not read to its end
     */
    CaptureResult result();

    @Override
    void close();
  }

  /**
   * Begins to take a picture.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such folder
   * @throws dev.isola.spi.error.Unsupported when commands are to be held and cannot be
   */
  Capture capture(CaptureRequest wanted);

  /**
   * Tells what {@link CaptureRequest#written} gives out of this sandbox; empty where only folders
   * can be taken.
   */
  Optional<Coverage> coverage();

  /**
   * Changes the root of a sandbox as an archive says: entries of type {@code W} are removed, all
   * others made as {@link #restore} makes them. Nothing goes into what is mounted over the root.
   *
   * @throws dev.isola.spi.error.Unsupported where the root is not the sandbox's own
   */
  TreeSummary restoreChanges(InputStream archive, TreeLimits limits);

  /**
   * Makes the files of an archive beneath the folder {@code path}, owners included where the
   * sandbox may give them. What may not be in an archive is as with {@link
   * dev.isola.spi.file.FileSystem#importTree}.
   */
  TreeSummary restore(String path, InputStream archive, TreeLimits limits);
}
