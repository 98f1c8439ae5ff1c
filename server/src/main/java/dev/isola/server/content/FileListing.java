package dev.isola.server.content;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileInfo;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/** Files of a sandbox for a response that needs all of them in memory. */
public final class FileListing {
  /** The most bytes of names and link targets. */
  private static final long MAX_BYTES = 16 << 20;

  private FileListing() {}

  /**
   * Returns all files.
   *
   * @param max the most files
   * @throws dev.isola.spi.error.LimitExceeded if there are more, or their names are too long
   */
  public static List<FileInfo> of(Stream<FileInfo> found, int max, String folder) {
    List<FileInfo> all = new ArrayList<>();
    long bytes = 0;
    for (Iterator<FileInfo> each = found.iterator(); each.hasNext(); ) {
      FileInfo info = each.next();
      bytes += info.path().length() + info.linkTarget().map(String::length).orElse(0);
      if (all.size() == max || bytes > MAX_BYTES) {
        throw Fault.of(
                ErrorCode.RESOURCE_LIMIT,
                "there are more than "
                    + max
                    + " entries, or more than "
                    + MAX_BYTES
                    + " bytes of names, in "
                    + folder,
                "list a subdirectory, or use a smaller depth")
            .exception();
      }
      all.add(info);
    }
    return all;
  }
}
