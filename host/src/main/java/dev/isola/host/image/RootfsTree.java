package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.host.image.NativeFiles.Stat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A folder tree accessed by descriptor: the kernel rejects any path with a symbolic link or a mount
 * in it, so nothing in the tree can redirect a caller. Paths are those of {@link ArchivePaths}. Not
 * thread-safe.
 */
final class RootfsTree implements AutoCloseable {
  private final int root;

  /** Parent of the last path, which is usually also that of the next. */
  private String parentPath = "";

  private int parent = -1;

  RootfsTree(Path root) throws IOException {
    try {
      this.root = NativeFiles.openFolder(root);
    } catch (NativeException e) {
      throw new IOException(root + ": " + e.getMessage(), e);
    }
  }

  /** Returns the status of a path without following symbolic links; empty if it does not exist. */
  Optional<Stat> stat(String path) throws IOException {
    if (path.isEmpty()) {
      return Optional.of(NativeFiles.stat(root));
    }
    try {
      return NativeFiles.stat(folderOf(path), ArchivePaths.fileName(path));
    } catch (NativeException e) {
      if (e.errno() == NativeException.ENOENT || e.errno() == NativeException.ENOTDIR) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Throws unless the parent of a path exists and is reachable without symbolic links. */
  void requireParent(String path) throws IOException {
    folderOf(path);
  }

  /** Returns the names in a folder in byte order. */
  List<String> list(String folder) throws IOException {
    int descriptor = open(folder, NativeFiles.RDONLY | NativeFiles.DIRECTORY);
    try {
      List<String> names = NativeFiles.list(descriptor);
      names.sort(null);
      return names;
    } finally {
      NativeFiles.close(descriptor);
    }
  }

  /** Opens an existing path; the caller closes it. */
  int open(String path, int flags) throws IOException {
    return NativeFiles.open(root, path.isEmpty() ? "." : path, flags, 0);
  }

  /** Creates a file for writing; the caller closes it. */
  int create(String path) throws IOException {
    return NativeFiles.open(
        folderOf(path), ArchivePaths.fileName(path), NativeFiles.WRONLY | NativeFiles.CREATE, 0600);
  }

  String readLink(String path) throws IOException {
    return NativeFiles.readLink(folderOf(path), ArchivePaths.fileName(path));
  }

  void makeFolder(String path, int mode) throws IOException {
    NativeFiles.makeFolder(folderOf(path), ArchivePaths.fileName(path), mode);
  }

  void makeLink(String path, String target) throws IOException {
    NativeFiles.makeLink(target, folderOf(path), ArchivePaths.fileName(path));
  }

  void makeHardLink(String path, String existing) throws IOException {
    int from =
        NativeFiles.open(
            root,
            ArchivePaths.parent(existing).isEmpty() ? "." : ArchivePaths.parent(existing),
            NativeFiles.PATH | NativeFiles.DIRECTORY,
            0);
    try {
      NativeFiles.makeHardLink(
          from, ArchivePaths.fileName(existing), folderOf(path), ArchivePaths.fileName(path));
    } finally {
      NativeFiles.close(from);
    }
  }

  /** Creates a hard link to the file with the same path in another tree. */
  void makeHardLink(String path, RootfsTree from) throws IOException {
    String name = ArchivePaths.fileName(path);
    NativeFiles.makeHardLink(from.folderOf(path), name, folderOf(path), name);
  }

  void chown(String path, int uid, int gid) throws IOException {
    if (path.isEmpty()) {
      NativeFiles.chown(root, "", uid, gid);
    } else {
      NativeFiles.chown(folderOf(path), ArchivePaths.fileName(path), uid, gid);
    }
  }

  void touch(String path, long seconds, int nanos) throws IOException {
    if (path.isEmpty()) {
      NativeFiles.touch(root, ".", seconds, nanos);
    } else {
      NativeFiles.touch(folderOf(path), ArchivePaths.fileName(path), seconds, nanos);
    }
  }

  void chmodFolder(String path, int mode) throws IOException {
    int descriptor = open(path, NativeFiles.RDONLY | NativeFiles.DIRECTORY);
    try {
      NativeFiles.chmod(descriptor, mode);
    } finally {
      NativeFiles.close(descriptor);
    }
  }

  /** Removes anything but a folder. */
  void removeFile(String path) throws IOException {
    NativeFiles.unlink(folderOf(path), ArchivePaths.fileName(path), 0);
  }

  /** Removes an empty folder. */
  void removeFolder(String path) throws IOException {
    closeParent();
    NativeFiles.unlink(folderOf(path), ArchivePaths.fileName(path), NativeFiles.REMOVE_FOLDER);
  }

  void sync() throws IOException {
    NativeSystem.sync(root);
  }

  private int folderOf(String path) throws IOException {
    String folder = ArchivePaths.parent(path);
    if (folder.isEmpty()) {
      return root;
    }
    if (parent < 0 || !folder.equals(parentPath)) {
      closeParent();
      parent = NativeFiles.open(root, folder, NativeFiles.PATH | NativeFiles.DIRECTORY, 0);
      parentPath = folder;
    }
    return parent;
  }

  private void closeParent() {
    if (parent >= 0) {
      NativeFiles.close(parent);
      parent = -1;
    }
  }

  @Override
  public void close() {
    closeParent();
    NativeFiles.close(root);
  }
}
