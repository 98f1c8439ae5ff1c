package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.host.image.NativeFiles.Stat;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Unpacks entries into a tree. Entries are untrusted: each stays below the root, replaces an
 * existing path instead of writing into it, and never follows a symbolic link of its own archive or
 * of a lower layer.
 */
final class Unpacker implements AutoCloseable {
  private static final int FIRST_UNMAPPED = 65536;
  private static final int BUFFER = 1 << 18;

  /** Errors of a file that cannot have another hard link. */
  private static final Set<Integer> UNLINKABLE =
      Set.of(
          NativeException.EMLINK,
          NativeException.EPERM,
          NativeException.EXDEV,
          NativeException.ENOTSUP);

  private final RootfsTree tree;
  private final boolean preserveOwners;
  private final Budget budget;
  private final ImportWarnings warnings;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory = arena.allocate(BUFFER);
  private final byte[] buffer = new byte[BUFFER];

  /**
   * Modes and times of folders are set last, because entries unpacked into them would change both.
   */
  private final TreeMap<String, TarEntry> folders = new TreeMap<>();

  /** Paths of the current layer, which its own whiteouts do not affect. */
  private final Set<String> layer = new HashSet<>();

  Unpacker(RootfsTree tree, boolean preserveOwners, Budget budget, ImportWarnings warnings) {
    this.tree = tree;
    this.preserveOwners = preserveOwners;
    this.budget = budget;
    this.warnings = warnings;
  }

  /** Starts a new layer on top of the existing content. */
  void nextLayer() {
    layer.clear();
  }

  /** Unpacks an entry, replacing what exists at its path. */
  void put(TarEntry entry, InputStream content) throws IOException {
    budget.takeEntry();
    String path = ArchivePaths.normalize(entry.path());
    budget.takeText(path.length());
    if (entry.kind() == TarEntry.Kind.FOLDER) {
      budget.takeText(entry.path().length());
      entry
          .attributes()
          .forEach((name, value) -> budget.takeText((long) name.length() + value.length));
    }
    try {
      place(path, entry, content);
      layer.add(path);
    } catch (NativeException e) {
      throw failed(e, path);
    }
  }

  /**
   * Adds a file or a symbolic link of another tree, at the same path, by a hard link. Its folder
   * exists already.
   *
   * @return false if the file system does not allow another link
   */
  boolean share(RootfsTree from, String path) throws IOException {
    try {
      tree.makeHardLink(path, from);
      budget.takeEntry();
      return true;
    } catch (NativeException e) {
      if (UNLINKABLE.contains(e.errno())) {
        return false;
      }
      throw failed(e, path);
    }
  }

  /** Creates a folder unless something is at its path, or a link leads to it. */
  void ensureFolder(String path) throws IOException {
    try {
      if (tree.stat(path).isPresent()) {
        return;
      }
    } catch (NativeException behindALink) {
      return;
    }
    put(
        new TarEntry(path, TarEntry.Kind.FOLDER, "", 0755, 0, 0, 0, 0, 0, Map.of()),
        InputStream.nullInputStream());
  }

  private void place(String path, TarEntry entry, InputStream content) throws IOException {
    if (path.isEmpty()) {
      if (entry.kind() == TarEntry.Kind.FOLDER) {
        folders.put("", entry);
        return;
      }
      throw ArchivePaths.badArchive("the root of an image must be a folder", entry.path());
    }
    if (entry.kind() == TarEntry.Kind.SPECIAL) {
      warnings.add("devices, pipes or sockets are left out", path);
      return;
    }
    makeParents(path, entry);
    switch (entry.kind()) {
      case FOLDER -> folder(path, entry);
      case FILE -> file(path, entry, content);
      case LINK -> link(path, entry);
      case HARD_LINK -> hardLink(path, ArchivePaths.normalize(entry.target()));
      case SPECIAL, REMOVED -> throw new IllegalStateException("handled above");
    }
  }

  /** Creates missing parent folders of a path. */
  private void makeParents(String path, TarEntry entry) throws IOException {
    try {
      tree.requireParent(path);
    } catch (NativeException e) {
      if (e.errno() == NativeException.ENOTDIR) {
        throw ArchivePaths.badArchive("the parent of an entry is not a folder", path);
      }
      if (e.errno() != NativeException.ENOENT) {
        throw e;
      }
      String parent = ArchivePaths.parent(path);
      makeParents(parent, entry);
      budget.takeText(parent.length());
      tree.makeFolder(parent, 0700);
      folders.put(parent, implicit(parent, entry));
    }
  }

  private static TarEntry implicit(String path, TarEntry child) {
    return new TarEntry(
        path, TarEntry.Kind.FOLDER, "", 0755, 0, 0, 0, child.seconds(), child.nanos(), Map.of());
  }

  private void folder(String path, TarEntry entry) throws IOException {
    Optional<Stat> existing = tree.stat(path);
    if (existing.isPresent() && !existing.get().isFolder()) {
      tree.removeFile(path);
      existing = Optional.empty();
    }
    if (existing.isEmpty()) {
      tree.makeFolder(path, 0700);
    }
    folders.put(path, entry);
  }

  private void file(String path, TarEntry entry, InputStream content) throws IOException {
    budget.needBytes(entry.size());
    clear(path);
    int file = tree.create(path);
    try {
      copy(content, file);
      own(path, entry);
      // Must follow chown, which clears setuid bits and capabilities.
      NativeFiles.chmod(file, preserveOwners ? entry.mode() : entry.mode() | 0400);
      attributes(file, path, entry.attributes());
    } finally {
      NativeFiles.close(file);
    }
    tree.touch(path, entry.seconds(), entry.nanos());
  }

  private void copy(InputStream content, int file) throws IOException {
    int n;
    while ((n = content.read(buffer, 0, BUFFER)) >= 0) {
      MemorySegment.copy(buffer, 0, memory, ValueLayout.JAVA_BYTE, 0, n);
      NativeFiles.write(file, memory.asSlice(0, n));
    }
  }

  private void link(String path, TarEntry entry) throws IOException {
    String target = entry.target();
    if (target.isEmpty()
        || target.length() > ArchivePaths.MAX_PATH_LENGTH
        || target.indexOf('\0') >= 0) {
      throw ArchivePaths.badArchive("a link has an invalid target", path);
    }
    clear(path);
    tree.makeLink(path, target);
    own(path, entry);
    tree.touch(path, entry.seconds(), entry.nanos());
  }

  private void hardLink(String path, String target) throws IOException {
    Optional<Stat> stat = target.isEmpty() ? Optional.empty() : tree.stat(target);
    if (stat.isEmpty()) {
      throw ArchivePaths.badArchive("a hard link has a missing target", path);
    }
    if (stat.get().isFolder()) {
      throw ArchivePaths.badArchive("a hard link refers to a folder", path);
    }
    if (path.equals(target)) {
      return;
    }
    clear(path);
    // The replaced path may have been a folder that contained the target.
    if (tree.stat(target).isEmpty()) {
      throw ArchivePaths.badArchive("a hard link has a missing target", path);
    }
    tree.makeHardLink(path, target);
  }

  private void own(String path, TarEntry entry) throws IOException {
    if (!preserveOwners) {
      return;
    }
    if (entry.uid() >= 0xffffffffL || entry.gid() >= 0xffffffffL) {
      throw ArchivePaths.badArchive("an owner is out of range", path);
    }
    if (entry.uid() >= FIRST_UNMAPPED || entry.gid() >= FIRST_UNMAPPED) {
      warnings.add(
          "files have owners with ids of 65536 or more, which sandboxes do not have", path);
    }
    tree.chown(path, (int) entry.uid(), (int) entry.gid());
  }

  /**
   * Preserves capabilities of programs (root only) and attributes of users. All others have a
   * meaning for the host's kernel, in particular for overlay file systems.
   */
  private void attributes(int file, String path, Map<String, byte[]> attributes)
      throws IOException {
    for (Map.Entry<String, byte[]> attribute : attributes.entrySet()) {
      String name = attribute.getKey();
      if (!isPreserved(name) || (!preserveOwners && !name.startsWith("user."))) {
        warnings.add("extended attributes are left out (" + ArchivePaths.display(name) + ")", path);
        continue;
      }
      try {
        NativeAttributes.set(file, name, attribute.getValue());
      } catch (NativeException e) {
        warnings.add(
            "extended attributes could not be set (" + ArchivePaths.display(name) + ")", path);
      }
    }
  }

  static boolean isPreserved(String attribute) {
    return attribute.equals("security.capability")
        || (attribute.startsWith("user.") && !attribute.startsWith("user.overlay."));
  }

  /** Removes what lower layers have at a path; entries of this layer stay. */
  void whiteout(String name) throws IOException {
    budget.takeEntry();
    String path = ArchivePaths.normalize(name);
    try {
      if (reachable(path)) {
        hide(path);
      }
    } catch (NativeException e) {
      throw failed(e, path);
    }
  }

  /** Removes everything that lower layers have in a folder; entries of this layer stay. */
  void opaque(String folder) throws IOException {
    budget.takeEntry();
    String path = ArchivePaths.normalize(folder);
    try {
      if (reachable(ArchivePaths.resolve(path, "any"))) {
        for (String name : tree.list(path)) {
          hide(ArchivePaths.resolve(path, name));
        }
      }
    } catch (NativeException e) {
      throw failed(e, path);
    }
  }

  /** Reports whether the parent of a path exists; rejects a symbolic link in its place. */
  private boolean reachable(String path) throws IOException {
    String parent = ArchivePaths.parent(path);
    Optional<Stat> existing = tree.stat(parent);
    if (existing.isPresent() && existing.get().isLink()) {
      throw ArchivePaths.badArchive("an entry leads through a symbolic link", path);
    }
    return existing.isPresent() && existing.get().isFolder();
  }

  /**
   * Removes a path unless it belongs to this layer; returns whether something of this layer is
   * left.
   */
  private boolean hide(String path) throws IOException {
    Optional<Stat> existing = tree.stat(path);
    if (existing.isEmpty()) {
      return false;
    }
    boolean inLayer = layer.contains(path);
    if (existing.get().isFolder()) {
      for (String name : tree.list(path)) {
        inLayer |= hide(ArchivePaths.resolve(path, name));
      }
      if (!inLayer) {
        folders.remove(path);
        tree.removeFolder(path);
      }
    } else if (!inLayer) {
      tree.removeFile(path);
    }
    return inLayer;
  }

  /** Removes what is at a path, including everything below it. */
  void clear(String path) throws IOException {
    Optional<Stat> existing = tree.stat(path);
    if (existing.isPresent() && existing.get().isFolder()) {
      for (String name : tree.list(path)) {
        clear(ArchivePaths.resolve(path, name));
      }
      folders.remove(path);
      tree.removeFolder(path);
    } else if (existing.isPresent()) {
      tree.removeFile(path);
    }
  }

  /** Sets owners, modes and times of folders. Must be called last. */
  void finish() throws IOException {
    for (Map.Entry<String, TarEntry> folder : folders.descendingMap().entrySet()) {
      TarEntry entry = folder.getValue();
      try {
        own(folder.getKey(), entry);
        tree.chmodFolder(folder.getKey(), preserveOwners ? entry.mode() : entry.mode() | 0700);
        tree.touch(folder.getKey(), entry.seconds(), entry.nanos());
      } catch (NativeException e) {
        throw failed(e, folder.getKey());
      }
    }
    folders.clear();
  }

  private static SandboxException failed(NativeException e, String path) {
    return switch (e.errno()) {
      case NativeException.ENOSPC, NativeException.EDQUOT ->
          Fault.of(
                  ErrorCode.DISK_FULL,
                  "the disk is full at " + ArchivePaths.display(path),
                  "free disk space, or move the data to another disk (--data)")
              .exception(e);
      case NativeException.ELOOP ->
          ArchivePaths.badArchive("an entry leads through a symbolic link", path);
      case NativeException.ENOSYS ->
          Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  "this kernel cannot open a path without following symbolic links (openat2)",
                  "use Linux 5.6 or newer, and a container that allows this system call")
              .exception(e);
      default ->
          Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  "the image cannot be written: "
                      + e.getMessage()
                      + ": "
                      + ArchivePaths.display(path),
                  "check the disk and the permissions of the data folder")
              .exception(e);
    };
  }

  @Override
  public void close() {
    arena.close();
  }
}
