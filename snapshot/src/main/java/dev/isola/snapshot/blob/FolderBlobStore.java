package dev.isola.snapshot.blob;

import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A blob store in a local folder. A file is synced to disk before it gets its name. */
public final class FolderBlobStore implements BlobStore {
  /** Only the server may read the folder. */
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final String LOCK = "lock";

  private final Path folder;
  private final FailpointListener failpoints;

  public FolderBlobStore(Path folder) {
    this(folder, FailpointListener.NONE);
  }

  public FolderBlobStore(Path folder, FailpointListener failpoints) {
    this.folder = folder;
    this.failpoints = failpoints;
  }

  @Override
  public Claim claim(Path work) throws IOException {
    return claimFolder(folder);
  }

  /**
   * Claims exclusive use of a folder by a file lock, which the kernel releases when the process
   * ends for any reason.
   */
  public static Claim claimFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(folder, OWNER_ONLY);
      sync(folderOf(folder.toAbsolutePath()));
    }
    FileChannel channel =
        FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new AlreadyClaimedException("another process owns the snapshot store in " + folder);
    }
    return channel::close;
  }

  @Override
  public void put(String name, Path file) throws IOException {
    sync(file);
    failpoints.reached(SnapshotFailpoint.FILE_SYNCED);
    Path target = folder.resolve(name);
    Path parent = folderOf(target);
    if (!Files.isDirectory(parent)) {
      Files.createDirectories(parent, OWNER_ONLY);
      sync(folder);
    }
    Files.move(file, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    failpoints.reached(SnapshotFailpoint.FILE_NAMED);
    sync(parent);
  }

  /**
   * The store has one owner, which creates each name once, so no other writer can create the name
   * after this check.
   */
  @Override
  public void create(String name, Path file) throws IOException {
    if (Files.exists(folder.resolve(name))) {
      throw new FileAlreadyExistsException(name);
    }
    put(name, file);
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static Path folderOf(Path target) throws IOException {
    Path parent = target.getParent();
    if (parent == null) {
      throw new IOException(target + " has no parent folder");
    }
    return parent;
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    try (FileChannel channel = FileChannel.open(folder.resolve(name), StandardOpenOption.READ)) {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      while (bytes.hasRemaining()) {
        if (channel.read(bytes, offset + bytes.position()) < 0) {
          throw new EOFException(name + " ends before byte " + (offset + length));
        }
      }
      return bytes.array();
    }
  }

  @Override
  public long size(String name) throws IOException {
    return Files.size(folder.resolve(name));
  }

  @Override
  public List<String> list(String prefix) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(prefix))) {
      return files.map(file -> prefix + "/" + file.getFileName()).sorted().toList();
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  @Override
  public void remove(String name) throws IOException {
    Path target = folder.resolve(name);
    if (Files.deleteIfExists(target)) {
      failpoints.reached(SnapshotFailpoint.FILE_REMOVED);
      sync(folderOf(target));
    }
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
