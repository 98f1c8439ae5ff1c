package dev.isola.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Disk space that is allocated while there is some, and given up when the disk is full, so that
 * what frees space still works: destroying a sandbox, its expiry, removing a key or a record.
 *
 * <p>The reserve is a folder in each file system that the server needs, with files that are given
 * up one by one, each with its blocks and its inode. {@link #refill} makes them again when there is
 * space. What is given up may be taken by another process first. Therefore the files to which the
 * ledger writes have blocks in advance, too. While the disk is full or a part of the reserve is
 * missing, the ledger refuses all writes but those of {@link #freeing}, so that both remain for
 * these.
 */
public final class DiskReserve {
  /** The name of the folder with the slices, in a folder of the server. */
  public static final String FOLDER = "disk-reserve";

  static final long SLICE = 512 << 10;

  /** Enough for the write-ahead log of the ledger, which has 4 MB before it is used again. */
  static final int SLICES = 16;

  /** What must be left for others when the reserve is filled up. */
  private static final long MARGIN = 4 * SLICE;

  /** What a server needs to start: the index and the log of the ledger, and small files. */
  private static final int START = (int) (4 * SLICE);

  /** The inodes that a server needs to start, and that are left for others. */
  private static final long INODES = 4;

  private static final DiskSpace NO_SPACE = new DiskSpace(0, 0, 0, 0);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** No reserve, as for commands that open a ledger for a moment. */
  public static final DiskReserve NONE = new DiskReserve(List.of());

  private static final ScopedValue<Boolean> FREEING = ScopedValue.newInstance();

  private final List<Path> folders;
  private final ReentrantLock lock = new ReentrantLock();

  /** The files that have blocks in advance. */
  private final Map<Path, InPlace> inPlace = new ConcurrentHashMap<>();

  /**
   * @param fromEnd whether the blocks are those after the end of the file, or those at its
   *     beginning
   */
  private record InPlace(long length, boolean fromEnd) {}

  private volatile boolean incomplete;

  private DiskReserve(List<Path> folders) {
    this.folders = List.copyOf(folders);
  }

  /**
   * Opens the reserve, and fills it up as far as there is space.
   *
   * @param folders folders that the server writes to; those on one file system share one reserve
   */
  public static DiskReserve open(Collection<Path> folders) throws IOException {
    List<FileStore> known = new ArrayList<>();
    List<Path> chosen = new ArrayList<>();
    for (Path folder : folders) {
      FileStore store = Files.getFileStore(folder);
      if (!known.contains(store)) {
        known.add(store);
        chosen.add(folder);
      }
    }
    DiskReserve reserve = new DiskReserve(chosen);
    boolean _ = reserve.refill();
    return reserve;
  }

  /**
   * Runs work that frees space or ends sandboxes: its writes to a ledger, on this thread, may use
   * the reserve.
   */
  public static <T extends @Nullable Object> T freeing(Supplier<T> work) {
    return ScopedValue.where(FREEING, true).call(work::get);
  }

  static boolean isFreeing() {
    return FREEING.isBound();
  }

  /** Returns whether only work that frees space may write. */
  boolean isForFreeingOnly() {
    return incomplete || folders.stream().anyMatch(folder -> free(folder) < SLICE);
  }

  /**
   * Keeps the beginning of a file allocated, so that writes there need no space. Does nothing where
   * the file system cannot do it, or is full.
   */
  void keepAllocated(Path file, long length) {
    keep(file, new InPlace(length, false));
  }

  /** Keeps blocks allocated after the end of a file, so that appending to it needs no space. */
  public void keepAllocatedAfterEnd(Path file, long length) {
    keep(file, new InPlace(length, true));
  }

  private void keep(Path file, InPlace blocks) {
    if (!folders.isEmpty()) {
      inPlace.put(file, blocks);
      allocateInPlace(file, blocks);
    }
  }

  /** Ends {@link #keepAllocated}. */
  void forget(Path file) {
    inPlace.remove(file);
  }

  private static void allocateInPlace(Path file, InPlace blocks) {
    Path folder = file.getParent();
    if (folder != null && free(folder) >= blocks.length() + MARGIN) {
      try {
        long from = blocks.fromEnd() ? Files.size(file) : 0;
        DiskSpace.allocateInPlace(file, from + blocks.length());
      } catch (IOException unsupported) {
        // The reserve itself is left.
      }
    }
  }

  /** Returns whether a part of the reserve was given up and there was no space for it since. */
  public boolean isIncomplete() {
    return incomplete;
  }

  /**
   * Gives up a slice in each file system.
   *
   * @return whether there was one
   */
  public boolean draw() {
    return draw(0);
  }

  /**
   * Gives up a slice in each file system that has more than half of its reserve. For records that
   * clients without a key cause too, such as those of the audit log.
   */
  public boolean drawForRecords() {
    return draw(SLICES / 2);
  }

  private boolean draw(int keep) {
    lock.lock();
    try {
      boolean drawn = false;
      for (Path folder : folders) {
        drawn |= removeSlice(folder, keep);
      }
      return drawn;
    } finally {
      lock.unlock();
    }
  }

  private boolean removeSlice(Path folder, int keep) {
    try {
      for (int i = SLICES - 1; i >= keep; i--) {
        if (Files.deleteIfExists(slice(folder, i))) {
          incomplete = true;
          sync(folder.resolve(FOLDER)); // journaling file systems free blocks after that
          return true;
        }
      }
      incomplete |= keep == 0;
      return false;
    } catch (IOException e) {
      incomplete = true;
      return false;
    }
  }

  private static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static Path slice(Path folder, int number) {
    return folder.resolve(FOLDER).resolve(Integer.toString(number));
  }

  /** Gives up slices until there is space to start a server, or none are left. */
  public void makeRoomToStart() {
    for (Path folder : folders) {
      while (!hasRoomToStart(folder) && draw()) {
        // the next slice
      }
    }
  }

  private static boolean hasRoomToStart(Path folder) {
    return free(folder) >= START
        && freeInodes(folder) >= INODES
        && !DiskSpace.isExhausted(folder, START);
  }

  /**
   * Fills the reserve up where there is space.
   *
   * @return whether it is complete
   */
  public boolean refill() {
    lock.lock();
    try {
      boolean complete = true;
      for (Path folder : folders) {
        complete &= addSlices(folder);
      }
      incomplete = !complete;
      inPlace.forEach(DiskReserve::allocateInPlace);
      return complete;
    } finally {
      lock.unlock();
    }
  }

  private static boolean addSlices(Path folder) {
    List<Path> missing =
        IntStream.range(0, SLICES)
            .mapToObj(number -> slice(folder, number))
            .filter(file -> !hasLength(file))
            .toList();
    if (missing.isEmpty()) {
      return true;
    }
    DiskSpace space = DiskSpace.of(folder).orElse(NO_SPACE);
    if (space.freeBytes() < missing.size() * SLICE + MARGIN
        || space.freeInodes() < missing.size() + INODES) {
      return false;
    }
    try {
      Files.createDirectories(folder.resolve(FOLDER), OWNER_ONLY);
      for (Path file : missing) {
        add(file);
      }
      return true;
    } catch (IOException full) {
      return false;
    }
  }

  private static boolean hasLength(Path file) {
    try {
      return Files.size(file) == SLICE;
    } catch (IOException missing) {
      return false;
    }
  }

  private static void add(Path file) throws IOException {
    try {
      DiskSpace.allocate(file, SLICE);
    } catch (IOException unsupported) {
      try {
        fill(file);
      } catch (IOException full) {
        Files.deleteIfExists(file);
        throw full;
      }
    }
  }

  /** Writes what no file system can compress or leave out. */
  private static void fill(Path file) throws IOException {
    byte[] noise = new byte[(int) SLICE];
    new SplittableRandom().nextBytes(noise);
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer block = ByteBuffer.wrap(noise);
      while (block.hasRemaining()) {
        channel.write(block);
      }
      channel.force(true);
    }
  }

  private static long free(Path folder) {
    return DiskSpace.of(folder).orElse(NO_SPACE).freeBytes();
  }

  private static long freeInodes(Path folder) {
    return DiskSpace.of(folder).orElse(NO_SPACE).freeInodes();
  }
}
