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
 * The files of one sandbox. All methods may be called from any thread. Content is streamed: only
 * the methods that read or write bytes or text hold a whole file in memory.
 *
 * <p>If the sandbox shares the file system of the host, nothing outside the workspace is ever read
 * or written: a path or link that leads out is rejected with {@code PATH_OUTSIDE}, even if a guest
 * process replaces it during the call.
 *
 * <p>All methods throw {@link NotFound} with {@code FILE_NOT_FOUND} for a missing path, and {@link
 * dev.isola.spi.error.Gone} or {@code NotFound} after the sandbox was destroyed.
 */
public interface FileSystem {

  /**
   * Returns a view of the same files that acts as {@code user} instead of the sandbox's own user.
   * Called on a view, it replaces the user of the view. Calls on the view have the permissions of
   * that user, or of root if the user is {@link FileUser#privileged}; files that they create belong
   * to the user. A call that creates files throws {@code USER_NOT_FOUND} if the user does not
   * exist, and any call throws {@code PERMISSION_DENIED} if the provider cannot act as another
   * user.
   */
  FileSystem as(FileUser user);

  /**
   * Opens a regular file for reading. The caller closes the stream, and may do so before its end.
   */
  InputStream read(String path, ReadRange range);

  /**
   * Writes a file from {@code content}, creating missing parent folders. If {@code content} fails
   * or the sandbox is lost, an atomic write leaves an existing file unchanged and creates no new
   * one. Does not close {@code content}.
   *
   * @return the metadata of the written file
   */
  FileInfo write(String path, InputStream content, WriteOptions options);

  /**
   * Returns the metadata of {@code path} after following all symbolic links; the result has the
   * path of the final target. With {@link LinkOption#NOFOLLOW_LINKS}, a link in the last component
   * is not followed.
   */
  FileInfo stat(String path, LinkOption... options);

  /**
   * Lists a folder to a depth of {@code depth} levels: 1 for its own entries, 0 for everything
   * beneath it. Symbolic links are not followed. Entries are fetched while the stream is consumed;
   * the caller closes it.
   */
  Stream<FileInfo> list(String path, int depth);

  /**
   * Finds the paths beneath {@code base} that match {@code pattern}: {@code *}, {@code ?} and
   * {@code [a-z]} match within one name, {@code **} across folders. The caller closes the stream.
   */
  Stream<FileInfo> glob(String base, String pattern);

  /** Creates a folder and its missing parents. Does nothing if the folder exists. */
  void makeFolder(String path, int mode);

  /**
   * Moves or renames a file or folder. Throws {@code FILE_EXISTS} if the target exists and {@code
   * replace} is false.
   */
  void move(String from, String to, boolean replace);

  /**
   * Removes a file, a symbolic link (never its target) or an empty folder; with {@code recursive},
   * a whole tree.
   */
  void remove(String path, boolean recursive);

  void changeMode(String path, int mode);

  /** Changes the owner and group. {@code owner} is {@code user}, {@code user:group} or numbers. */
  void changeOwner(String path, String owner);

  /** Creates the symbolic link {@code link}, which stores {@code target} as given. */
  void makeLink(String link, String target);

  /**
   * Returns the extended attributes of {@code path} in the {@code user.} namespace, without that
   * prefix.
   */
  Map<String, Bytes> attributes(String path);

  void setAttribute(String path, String name, Bytes value);

  void removeAttribute(String path, String name);

  /**
   * Returns {@code path} as a tar archive, which is produced while it is read. Omits paths that
   * match one of {@code excludes}. Modification times may be truncated to seconds. The caller
   * closes the stream.
   */
  InputStream exportTree(String path, List<String> excludes);

  /**
   * Extracts a tar archive beneath the folder {@code path}, which is created if missing. Throws
   * {@code BAD_ARCHIVE} for absolute names, {@code ..}, links that lead out, devices and pipes;
   * files extracted before that remain.
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
   * Reads a whole file of at most {@code limit} bytes. Throws {@code RESOURCE_LIMIT} for a larger
   * file; content is never truncated.
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
