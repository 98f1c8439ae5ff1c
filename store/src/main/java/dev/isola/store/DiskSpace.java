package dev.isola.store;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The space of a file system, as the kernel reports it for a folder ({@code statvfs}), and the call
 * that allocates it ({@code fallocate}). Java has neither the number of inodes nor the allocation.
 *
 * @param freeBytes the bytes that this process may still write
 * @param freeInodes the files that this process may still create; {@link Long#MAX_VALUE} if the
 *     file system has no limit of its own
 * @param inodes all inodes; {@link Long#MAX_VALUE} if the file system has no limit of its own
 */
@SuppressWarnings("restricted")
public record DiskSpace(long freeBytes, long bytes, long freeInodes, long inodes) {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final int O_RDWR = 2;
  private static final int O_CREAT = 0x40;
  private static final int O_CLOEXEC = 0x80000;
  private static final int OWNER_ONLY = 0600;
  private static final int FALLOC_FL_KEEP_SIZE = 1;

  /** Larger than {@code struct statvfs} of any Linux on 64 bits. */
  private static final long STRUCT_BYTES = 256;

  // The struct begins with eleven words, on every architecture of 64 bits and in every C library.
  private static final long FRAGMENT = 8;
  private static final long BLOCKS = 16;
  private static final long BLOCKS_AVAILABLE = 32;
  private static final long FILES = 40;
  private static final long FILES_AVAILABLE = 56;

  private static final MethodHandle STATVFS =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("statvfs"),
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
  private static final MethodHandle OPEN =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("open"),
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle FALLOCATE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("fallocate"),
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle CLOSE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("close"), FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  /** Returns the space of the file system of a folder; empty if the folder does not exist. */
  public static Optional<DiskSpace> of(Path folder) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = arena.allocate(STRUCT_BYTES, 8);
      int result = (int) STATVFS.invokeExact(arena.allocateFrom(folder.toString()), found);
      if (result != 0) {
        return Optional.empty();
      }
      long block = found.get(JAVA_LONG, FRAGMENT);
      long inodes = found.get(JAVA_LONG, FILES);
      return Optional.of(
          new DiskSpace(
              bytes(found.get(JAVA_LONG, BLOCKS_AVAILABLE), block),
              bytes(found.get(JAVA_LONG, BLOCKS), block),
              inodes == 0 ? Long.MAX_VALUE : found.get(JAVA_LONG, FILES_AVAILABLE),
              inodes == 0 ? Long.MAX_VALUE : inodes));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("statvfs", e);
    }
  }

  /**
   * Returns whether the file system, or a quota, refuses to store so many bytes in a folder. Tries
   * it, because {@code statvfs} tells nothing of the quota of a user.
   */
  static boolean isExhausted(Path folder, int bytes) {
    try {
      Path file = Files.createTempFile(folder, ".space", "");
      try {
        Files.write(file, new byte[bytes]);
      } finally {
        Files.delete(file);
      }
      return false;
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      return why.contains("No space left") || why.contains("quota exceeded");
    }
  }

  private static long bytes(long blocks, long size) {
    return blocks > Long.MAX_VALUE / Math.max(1, size) ? Long.MAX_VALUE : blocks * size;
  }

  /**
   * Makes a file at least so long, with blocks that are allocated. Creates it if it is missing.
   *
   * @throws IOException if the file system is full or cannot allocate; the file may be longer then,
   *     without the blocks
   */
  static void allocate(Path file, long length) throws IOException {
    allocate(file, O_RDWR | O_CREAT | O_CLOEXEC, 0, length);
  }

  /**
   * Allocates the blocks of the beginning of a file, without a change of its length, so that writes
   * there need no space.
   *
   * @throws IOException if the file is missing, or the file system is full or cannot allocate
   */
  static void allocateInPlace(Path file, long length) throws IOException {
    allocate(file, O_RDWR | O_CLOEXEC, FALLOC_FL_KEEP_SIZE, length);
  }

  private static void allocate(Path file, int flags, int mode, long length) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int descriptor =
          (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), flags, OWNER_ONLY);
      if (descriptor < 0) {
        throw new IOException(file + " cannot be opened");
      }
      try {
        if ((int) FALLOCATE.invokeExact(descriptor, mode, 0L, length) != 0) {
          throw new IOException("blocks for " + file + " cannot be allocated");
        }
      } finally {
        int _ = (int) CLOSE.invokeExact(descriptor);
      }
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("fallocate", e);
    }
  }
}
