package dev.isola.link.local;

import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Removes a directory tree whose content is hostile. Entries are opened, renamed and unlinked
 * relative to an open directory ({@code openat}, {@code renameat}, {@code unlinkat}), so neither
 * the depth of the tree nor the length of a path in it can stop the removal, and no symbolic link
 * is followed. At most {@link #DEPTH} levels are open at once: a directory below that is moved up
 * into the top directory, and a later pass removes it there.
 *
 * <p>Call it when no process writes to the tree any more. It may be repeated: a removal that ran
 * into its deadline continues where the last one stopped.
 */
public final class TreeRemoval {
  /**
   * Limits the open descriptors, and the length of the one path that is used: see {@link #open}.
   */
  private static final int DEPTH = 8;

  static final Duration DEADLINE = Duration.ofMinutes(2);
  private static final int PASSES_WITHOUT_PROGRESS = 10;
  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rwx------");

  /** A directory on the path to the current one; the first is the parent of the tree. */
  private record Level(SecureDirectoryStream<Path> directory, Iterator<Path> entries, Path name) {}

  private final Path tree;
  private final Optional<Path> last;
  private final Deadline deadline;
  private final Deque<Level> levels = new ArrayDeque<>();
  private Optional<SecureDirectoryStream<Path>> top = Optional.empty();
  private long progress;
  private boolean keepsLast = true;

  private TreeRemoval(Path tree, Optional<Path> last, Duration limit) {
    this.tree = tree;
    this.last = last;
    this.deadline = Deadline.in(limit);
  }

  /** Removes {@code tree} within two minutes. See {@link #remove(Path, Duration)}. */
  public static void remove(Path tree) throws IOException {
    remove(tree, DEADLINE);
  }

  /**
   * Removes {@code tree} and everything in it; a symbolic link is removed, not followed. Does
   * nothing if it does not exist.
   *
   * @throws IOException if something in it cannot be removed, a file system is mounted in it, or
   *     the limit passed
   */
  public static void remove(Path tree, Duration limit) throws IOException {
    remove(tree, Optional.empty(), limit);
  }

  /**
   * Like {@link #remove(Path, Duration)}, but removes the entry {@code last} of the tree after all
   * others, so that an interrupted removal can be recognized by it.
   */
  static void remove(Path tree, Optional<Path> last, Duration limit) throws IOException {
    Path absolute = tree.toAbsolutePath().normalize();
    if (absolute.getFileName() == null) {
      throw new IOException("the root directory cannot be removed");
    }
    if (Files.exists(absolute, LinkOption.NOFOLLOW_LINKS)) {
      NestedMountCheck.requireNone(absolute);
      new TreeRemoval(absolute, last, limit).passes();
    }
  }

  private void passes() throws IOException {
    int idle = 0;
    while (Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
      long before = progress;
      try {
        pass();
      } finally {
        closeAll();
      }
      idle = progress == before ? idle + 1 : 0;
      keepsLast = idle == 0;
      if (idle == PASSES_WITHOUT_PROGRESS) {
        throw new DirectoryNotEmptyException(tree.toString());
      }
    }
  }

  private void pass() throws IOException {
    levels.push(new Level(secure(parent()), List.of(name(tree)).iterator(), name(tree)));
    while (!levels.isEmpty()) {
      if (deadline.over()) {
        throw new IOException(tree + " was not removed in time; remove it again to continue");
      }
      Level level = levels.element();
      Optional<Path> entry = next(level);
      if (entry.isPresent()) {
        removeEntry(level, entry.get());
      } else {
        removeEmptied();
      }
    }
  }

  private Path parent() {
    Path parent = tree.getParent();
    return parent == null ? tree : parent;
  }

  private static Path name(Path path) {
    Path name = path.getFileName();
    return name == null ? path : name;
  }

  private static Optional<Path> next(Level level) throws IOException {
    try {
      return level.entries().hasNext()
          ? Optional.of(name(level.entries().next()))
          : Optional.empty();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private void removeEntry(Level level, Path name) throws IOException {
    if (keepsLast && levels.size() == 2 && last.filter(name::equals).isPresent()) {
      return; // a later pass removes it
    }
    try {
      PosixFileAttributes found = attributes(level, name);
      if (!found.isDirectory()) {
        level.directory().deleteFile(name);
        progress++;
      } else if (levels.size() > DEPTH) {
        lift(level, name, found);
      } else {
        enter(level, name, found);
      }
    } catch (NoSuchFileException removedMeanwhile) {
      progress++;
    }
  }

  private static PosixFileAttributes attributes(Level level, Path name) throws IOException {
    return level
        .directory()
        .getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes();
  }

  private void enter(Level level, Path name, PosixFileAttributes found) throws IOException {
    SecureDirectoryStream<Path> directory;
    try {
      directory = open(level, name);
    } catch (NotDirectoryException replacedMeanwhile) {
      return; // the next pass finds what it is now
    }
    levels.push(new Level(directory, directory.iterator(), name));
    if (levels.size() == 2) {
      top = Optional.of(directory);
    }
    if (!found.permissions().containsAll(OWNER)) {
      allow(directory.getFileAttributeView(PosixFileAttributeView.class), found);
    }
  }

  /**
   * Opens a directory. Makes one readable first that its owner may not read, by its path, because
   * Java has no such call for a descriptor. Root never needs this, so the path is used only with
   * the rights of an unprivileged user.
   */
  private SecureDirectoryStream<Path> open(Level level, Path name) throws IOException {
    try {
      return secure(level.directory().newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
    } catch (AccessDeniedException unreadable) {
      allow(path(name));
      return secure(level.directory().newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
    }
  }

  private Path path(Path name) {
    Path path = parent();
    Iterator<Level> down = levels.descendingIterator();
    down.next(); // the parent
    while (down.hasNext()) {
      path = path.resolve(down.next().name());
    }
    return path.resolve(name);
  }

  private static void allow(Path directory) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      Files.setPosixFilePermissions(directory, OWNER);
    }
  }

  private static void allow(PosixFileAttributeView directory, PosixFileAttributes found)
      throws IOException {
    Set<PosixFilePermission> wider = EnumSet.copyOf(OWNER);
    wider.addAll(found.permissions());
    try {
      directory.setPermissions(wider);
    } catch (FileSystemException notOurs) {
      // Removing its content fails and reports the reason.
    }
  }

  /** Moves a directory that is too deep into the top one, under a unique name. */
  private void lift(Level level, Path name, PosixFileAttributes found) throws IOException {
    SecureDirectoryStream<Path> to = top.orElseThrow();
    if (!found.permissions().containsAll(OWNER)) {
      allow(path(name)); // moving it changes its entry "..", which requires write permission
    }
    level.directory().move(name, to, name.resolveSibling(".isola-" + UUID.randomUUID()));
    progress++;
  }

  /** Removes the directory that was emptied last, unless it has new content. */
  private void removeEmptied() throws IOException {
    Level emptied = levels.pop();
    emptied.directory().close();
    Level parent = levels.peek();
    if (parent == null) {
      return;
    }
    try {
      parent.directory().deleteDirectory(emptied.name());
      progress++;
    } catch (NoSuchFileException removedMeanwhile) {
      progress++;
    } catch (DirectoryNotEmptyException lifted) {
      // The next pass removes it.
    }
  }

  @SuppressWarnings("StreamResourceLeak") // closed with its level
  private static SecureDirectoryStream<Path> secure(Path directory) throws IOException {
    return secure(Files.newDirectoryStream(directory));
  }

  private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> directory)
      throws IOException {
    if (directory instanceof SecureDirectoryStream<Path> secure) {
      return secure;
    }
    directory.close();
    throw new IOException("this system cannot remove files relative to an open directory");
  }

  private void closeAll() throws IOException {
    top = Optional.empty();
    while (!levels.isEmpty()) {
      levels.pop().directory().close();
    }
  }
}
