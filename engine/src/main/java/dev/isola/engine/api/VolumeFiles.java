package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import java.util.List;

/**
 * The files of a volume, addressed relative to the volume. Clients control the links in a volume: a
 * path that leads out of it through a link is rejected, so that no file of the helper sandbox is
 * exposed.
 *
 * @param files the files of a sandbox that mounts the volume at {@link #MOUNT}
 */
public record VolumeFiles(FileSystem files) {
  /** The mount point of the volume in the helper sandbox. */
  public static final String MOUNT = "/volume";

  /**
   * Rejects a path that could lead out of the volume.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it contains {@code ..} or is not a path
   */
  public static void refuseOutside(String inVolume) {
    if (inVolume.indexOf('\0') >= 0 || List.of(inVolume.split("/+", -1)).contains("..")) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the path '" + inVolume.replace('\0', '?') + "' leads out of the volume",
              "use a path without ..")
          .with("field", "path")
          .exception();
    }
  }

  /**
   * Returns the path in the helper sandbox, without following links.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it contains {@code ..} or is not a path
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
   * Returns the path in the helper sandbox of an existing file that is in the volume even after
   * following links.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code PATH_OUTSIDE} if it is not
   */
  public String resolveExisting(String inVolume) {
    String path = resolve(inVolume);
    if (!isInside(files.stat(path).path())) {
      throw outside(inVolume);
    }
    return path;
  }

  /**
   * Returns the path of an entry whose parent folder is in the volume; a final link is not
   * followed.
   */
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

  /** Returns the path of a file to write; if it exists, it must be in the volume. */
  public String resolveDestination(String inVolume) {
    String path = resolveEntry(inVolume);
    return files.exists(path) ? resolveExisting(inVolume) : path;
  }

  /** Returns the path relative to the volume of a file in the helper sandbox. */
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
            "use a path that no link leads out of the volume")
        .exception();
  }
}
