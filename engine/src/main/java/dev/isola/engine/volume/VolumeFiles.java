package dev.isola.engine.volume;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import java.util.List;

/**
 * The files of a volume, by paths that begin at the volume. Links in it are the clients' own: one
 * that leads out of the volume is refused, so that nothing of the helper sandbox is read.
 *
 * @param files of a sandbox that has the volume at {@link #MOUNT}
 */
public record VolumeFiles(FileSystem files) {
  /** Where the helper sandbox has the volume. */
  public static final String MOUNT = "/volume";

  /**
   * Refuses a path that could lead out of the volume.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it has {@code ..} or is no path
   */
  public static void refuseOutside(String inVolume) {
    if (inVolume.indexOf('\0') >= 0 || List.of(inVolume.split("/+", -1)).contains("..")) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the path '" + inVolume.replace('\0', '?') + "' does not stay in the volume",
              "name a path without ..")
          .with("field", "path")
          .exception();
    }
  }

  /**
   * Returns the path in the helper sandbox of a path in the volume; links are not looked at.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it has {@code ..} or is no path
   */
  public static String resolve(String inVolume) {
    refuseOutside(inVolume);
    StringBuilder path = new StringBuilder(MOUNT);
    for (String part : inVolume.split("/+", -1)) {
      if (!part.isEmpty() && !part.equals(".")) {
        path.append('/').append(part);
      }
    }
    return path.toString();
  }

  /**
   * Returns the path in the helper sandbox of something that exists, and is in the volume also when
   * links are followed.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code PATH_OUTSIDE} when it is not
   */
  public String resolveExisting(String inVolume) {
    String path = resolve(inVolume);
    if (!isInside(files.stat(path).path())) {
      throw outside(inVolume);
    }
    return path;
  }

  /** Returns the path of an entry whose folder is in the volume; a link is the link itself. */
  public String resolveEntry(String inVolume) {
    String path = resolve(inVolume);
    for (String folder = path; folder.length() > MOUNT.length(); ) {
      folder = folder.substring(0, folder.lastIndexOf('/'));
      if (files.exists(folder)) {
        if (!isInside(files.stat(folder).path())) {
          throw outside(inVolume);
        }
        return path;
      }
    }
    return path;
  }

  /** Returns the path of something to write, which may exist and is in the volume then. */
  public String resolveDestination(String inVolume) {
    String path = resolveEntry(inVolume);
    return files.exists(path) ? resolveExisting(inVolume) : path;
  }

  /** Returns the path in the volume of a file that the helper sandbox described. */
  public static String pathInVolume(FileInfo info) {
    String path = info.path().startsWith(MOUNT) ? info.path().substring(MOUNT.length()) : "";
    return path.isEmpty() ? "/" : path;
  }

  private static boolean isInside(String path) {
    return path.equals(MOUNT) || path.startsWith(MOUNT + "/");
  }

  private static SandboxException outside(String inVolume) {
    return Fault.of(
            ErrorCode.PATH_OUTSIDE,
            "'" + inVolume + "' leads out of the volume",
            "name a path in it that no link leads out of")
        .exception();
  }
}
