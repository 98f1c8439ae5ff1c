package dev.isola.spi.file;

import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.LinkOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The files of one sandbox. Every call may be made from any thread. Content is streamed: no call
 * holds a file in memory unless its name says bytes or text.
 *
 * <p>Where the sandbox shares the host's files, nothing outside the workspace is ever read or
 * written: a path or link that leads out is refused with {@code PATH_OUTSIDE}, also while it is
 * being swapped under us.
 *
 * <p>Throughout: a missing path is {@link NotFound} with {@code FILE_NOT_FOUND}; after destroy
 * every call is {@link dev.isola.spi.error.Gone} or {@code NotFound}.
 */
public interface FileSystem {

  /**
   * Returns the same files for another user than the sandbox's own; of a view, too, which this
   * replaces. Every call on the view has that user's permissions, or root's where the user is {@link
   * FileUser#privileged}, and what it creates belongs to the user. A call that creates something
   * throws {@code USER_NOT_FOUND} when there is no such user, and any call {@code
   * PERMISSION_DENIED} where the provider cannot act as another user.
   */
  FileSystem as(FileUser user);

  /**
   * Opens a regular file for reading. The caller closes the stream; closing early costs nothing.
   */
  InputStream read(String path, ReadRange range);

  /**
   * Writes a file from {@code content}, making missing parent folders. When {@code content} fails
   * or the sandbox is lost an atomic write leaves nothing behind and an existing file as it was.
   * {@code content} is not closed.
   *
   * @return the file as it is now
   */
  FileInfo write(String path, InputStream content, WriteOptions options);

  /**
   * Describes what {@code path} leads to, through all links; its path is where that is. With {@link
   * LinkOption#NOFOLLOW_LINKS} a link in the last place is described itself.
   */
  FileInfo stat(String path, LinkOption... options);

  /**
   * Lists a folder, {@code depth} levels deep (1 is its own entries, 0 is everything beneath).
   * Links are not followed. Entries arrive as the stream is consumed; close it.
   */
  Stream<FileInfo> list(String path, int depth);

  /**
   * Finds paths beneath {@code base} that match {@code pattern}: {@code *}, {@code ?}, {@code
   * [a-z]} within one name, {@code **} across folders. Close the stream.
   */
  Stream<FileInfo> glob(String base, String pattern);

  /** Makes a folder and its missing parents; no error when it is there already. */
  void makeFolder(String path, int mode);

  /** Moves or renames. Without {@code replace} an existing target is {@code FILE_EXISTS}. */
  void move(String from, String to, boolean replace);

  /**
   * Removes a file, a link (never what it points to) or an empty folder, or with {@code recursive}
   * a whole tree.
   */
  void remove(String path, boolean recursive);

  void changeMode(String path, int mode);

  /** Changes owner and group, {@code user}, {@code user:group} or numbers. */
  void changeOwner(String path, String owner);

  /** Makes {@code link} point to {@code target}, which is stored as written. */
  void makeLink(String link, String target);

  /**
   * Returns the extended attributes of {@code path} in the {@code user.} space, without that
   * prefix.
   */
  Map<String, Bytes> attributes(String path);

  void setAttribute(String path, String name, Bytes value);

  void removeAttribute(String path, String name);

  /**
   * Packs {@code path} as a tar archive while it is read. Paths that match one of {@code excludes}
   * are left out. Times of files may be cut to the second, as in most archives. Close the stream.
   */
  InputStream exportTree(String path, List<String> excludes);

  /**
   * Unpacks a tar archive beneath the folder {@code path}, which is made when missing. Absolute
   * names, {@code ..}, links that lead out, devices and pipes are refused with {@code BAD_ARCHIVE};
   * what was unpacked before stays.
   */
  TreeSummary importTree(String path, InputStream archive, TreeLimits limits);

  default boolean exists(String path) {
    try {
      stat(path, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NotFound missing) {
      if (missing.code() == ErrorCode.FILE_NOT_FOUND) {
        return false;
      }
      throw missing;
    }
  }

  /**
   * Reads a whole file of at most {@code limit} bytes; a larger one is {@code RESOURCE_LIMIT}, not
   * cut.
   */
  default byte[] readBytes(String path, int limit) {
    try (InputStream in = read(path, new ReadRange(0, limit + 1L))) {
      byte[] content = in.readNBytes(limit == Integer.MAX_VALUE ? limit : limit + 1);
      if (content.length > limit) {
        throw Fault.of(
                ErrorCode.RESOURCE_LIMIT,
                path + " is larger than " + limit + " bytes",
                "read it as a stream, or raise the limit")
            .with("resource", "file size")
            .with("limit", Integer.toString(limit))
            .exception();
      }
      return content;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              path + " could not be read: " + e.getMessage(),
              "try again")
          .exception(e);
    }
  }

  default String readText(String path, Charset charset, int limit) {
    return new String(readBytes(path, limit), charset);
  }

  default FileInfo writeText(String path, String text, Charset charset) {
    return write(path, new ByteArrayInputStream(text.getBytes(charset)), WriteOptions.DEFAULT);
  }
}
