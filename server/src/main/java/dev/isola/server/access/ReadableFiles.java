package dev.isola.server.access;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads the files of a sandbox for a key. A key with scope read does not see the file systems of
 * the kernel: {@code /proc/PID/environ}, for example, contains the environment of a command, which
 * is masked for such keys everywhere else. What counts is the path after all links, as the sandbox
 * resolves it; the text that the client sent says little about it.
 *
 * @param restricted whether the key has less than scope use
 */
public record ReadableFiles(FileSystem files, boolean restricted) {
  private static final String ROOT = "/";
  private static final List<String> KERNEL = List.of("/proc", "/sys", "/dev");

  /** Returns the files of a sandbox as a key may read them. */
  public static ReadableFiles of(Optional<ApiKey> key, FileSystem files) {
    return new ReadableFiles(files, key.filter(one -> one.scope().allows(Scope.USE)).isEmpty());
  }

  /** Describes a file; a link in the last component is not followed. */
  public FileInfo stat(String path) {
    int slash = path.lastIndexOf('/');
    String name = path.substring(slash + 1);
    if (name.isEmpty() || name.equals(".") || name.equals("..")) {
      permitted(path); // names a folder, so the links in it are followed
    } else if (restricted) {
      String folder = files.stat(slash < 0 ? "." : path.substring(0, slash + 1)).path();
      refuseKernel((folder.equals(ROOT) ? "" : folder) + "/" + name);
    }
    return files.stat(path, NOFOLLOW_LINKS);
  }

  /** Describes the file to which a path leads, after all links. */
  public FileInfo target(String path) {
    return files.stat(permitted(path));
  }

  /** Opens a file for reading. The caller closes the stream. */
  public InputStream read(String path, ReadRange range) {
    return files.read(permitted(path), range);
  }

  /** Lists a folder like {@link FileSystem#list}. The caller closes the stream. */
  public Stream<FileInfo> list(String path, int depth) {
    String folder = permitted(path);
    return visible(folder, files.list(isRoot(folder) ? ROOT : path, depth));
  }

  /** Finds paths like {@link FileSystem#glob}. The caller closes the stream. */
  public Stream<FileInfo> glob(String base, String pattern) {
    String folder = permitted(base);
    return visible(folder, files.glob(isRoot(folder) ? ROOT : base, pattern));
  }

  /** Archives a folder like {@link FileSystem#exportTree}. The caller closes the stream. */
  public InputStream exportTree(String path, List<String> excludes) {
    String folder = permitted(path);
    if (isRoot(folder)) {
      throw forbidden("export /, which contains /proc, /sys and /dev");
    }
    return files.exportTree(folder, excludes);
  }

  /**
   * Checks that the key may see what a path leads to.
   *
   * @return the path to use from here on: for a key with scope read the resolved one
   * @throws dev.isola.spi.error.Forbidden for a key with scope read and a path of the kernel
   */
  public String permitted(String path) {
    if (!restricted) {
      return path;
    }
    String resolved = files.stat(path).path();
    refuseKernel(resolved);
    return resolved;
  }

  private boolean isRoot(String folder) {
    return restricted && folder.equals(ROOT);
  }

  /** The file systems of the kernel are mounted beneath the root, and links are not followed. */
  private Stream<FileInfo> visible(String folder, Stream<FileInfo> found) {
    return isRoot(folder) ? found.filter(info -> !isInKernel(info.path())) : found;
  }

  private static boolean isInKernel(String path) {
    return KERNEL.stream().anyMatch(top -> path.startsWith(top + "/"));
  }

  private static void refuseKernel(String resolved) {
    if (KERNEL.contains(resolved) || isInKernel(resolved)) {
      throw forbidden("access /proc, /sys or /dev");
    }
  }

  private static SandboxException forbidden(String what) {
    return Fault.of(
            ErrorCode.FORBIDDEN, "a key with scope read cannot " + what, "use a key with scope use")
        .exception();
  }
}
