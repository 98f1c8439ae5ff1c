package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.isola.link.MachineArchitecture;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * System calls that images need and Java lacks: file names as bytes of any encoding, opening by
 * descriptor without following symbolic links, owners, setuid bits and extended attributes.
 * Supports Linux on each {@link MachineArchitecture}.
 *
 * <p>A name is a string in which each char is one byte (ISO 8859-1).
 */
final class NativeFiles {
  static final int RDONLY = 0;
  static final int WRONLY = 1;
  static final int CREATE = 0100 | 0200; // with O_EXCL
  static final int NONBLOCK = 04000;
  static final int PATH = 010000000;

  static final int DIRECTORY = directoryFlag(MachineArchitecture.ofHost());
  private static final long GETDENTS64 = getdents64(MachineArchitecture.ofHost());

  static final int REMOVE_FOLDER = 0x200;

  private static final int CLOEXEC = 02000000;
  private static final int AT_FDCWD = -100;
  private static final int NOFOLLOW = 0x100;
  private static final int EMPTY_PATH = 0x1000;
  private static final long NO_MOUNTS = 1;
  private static final long NO_MAGIC_LINKS = 2;
  private static final long NO_LINKS = 4;
  private static final long BENEATH = 8;
  private static final long OPENAT2 = 437;
  private static final int STATX_BASIC = 0x7ff;
  private static final int MAX_PATH_LENGTH = 4096;
  private static final int LISTING = 65536;

  private static final MethodHandle SYSCALL4 =
      NativeCall.systemCall(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
  private static final MethodHandle SYSCALL3 =
      NativeCall.systemCall(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
  private static final MethodHandle CLOSE = NativeCall.handle("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle STATX =
      NativeCall.handle("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle MKDIRAT =
      NativeCall.handle("mkdirat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SYMLINKAT =
      NativeCall.handle("symlinkat", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS);
  private static final MethodHandle LINKAT =
      NativeCall.handle("linkat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle UNLINKAT =
      NativeCall.handle("unlinkat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle READLINKAT =
      NativeCall.handle("readlinkat", JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle FCHOWNAT =
      NativeCall.handle("fchownat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle FCHMOD =
      NativeCall.handle("fchmod", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle UTIMENSAT =
      NativeCall.handle("utimensat", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle READ =
      NativeCall.handle("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE =
      NativeCall.handle("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);

  private NativeFiles() {}

  static int directoryFlag(MachineArchitecture architecture) {
    return switch (architecture) {
      case X86_64 -> 0x10000;
      case AARCH64 -> 0x4000;
    };
  }

  static long getdents64(MachineArchitecture architecture) {
    return switch (architecture) {
      case X86_64 -> 217;
      case AARCH64 -> 61;
    };
  }

  /** The status of a file as returned by {@code statx}. */
  record Stat(
      int mode,
      int uid,
      int gid,
      long links,
      long inode,
      long device,
      long size,
      long seconds,
      int nanos) {
    boolean isFile() {
      return (mode & 0170000) == 0100000;
    }

    boolean isSameFile(Stat other) {
      return device == other.device && inode == other.inode;
    }

    boolean isFolder() {
      return (mode & 0170000) == 0040000;
    }

    boolean isLink() {
      return (mode & 0170000) == 0120000;
    }

    int permissions() {
      return mode & 07777;
    }
  }

  /** Opens a folder of the host, following symbolic links. */
  static int openFolder(Path path) throws IOException {
    String bytes =
        new String(
            path.toAbsolutePath()
                .toString()
                .getBytes(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"))),
            StandardCharsets.ISO_8859_1);
    return openat2(AT_FDCWD, bytes, RDONLY | DIRECTORY, 0, NO_MAGIC_LINKS);
  }

  /**
   * Opens {@code path} below a folder. A symbolic link anywhere in it, including the last name,
   * fails with {@code ELOOP}, a mount with {@code EXDEV}.
   */
  static int open(int folder, String path, int flags, int mode) throws IOException {
    return openat2(folder, path, flags, mode, NO_LINKS | NO_MOUNTS | BENEATH);
  }

  private static int openat2(int folder, String path, int flags, int mode, long resolve)
      throws IOException {
    return NativeCall.of(
        "open",
        call -> {
          MemorySegment how = call.allocate(24);
          how.set(JAVA_LONG, 0, (flags | CLOEXEC) & 0xffffffffL);
          how.set(JAVA_LONG, 8, (flags & CREATE) == CREATE ? mode : 0);
          how.set(JAVA_LONG, 16, resolve);
          return (int)
              call.checked(
                  (long)
                      SYSCALL4.invokeExact(
                          call.state(), OPENAT2, (long) folder, call.text(path), how, 24L));
        });
  }

  static void close(int descriptor) {
    try (NativeCall call = new NativeCall("close")) {
      int ignored = (int) CLOSE.invokeExact(call.state(), descriptor);
    } catch (Throwable e) {
      throw new LinkageError("close", e);
    }
  }

  /** Returns the status of a name without following symbolic links; empty if it does not exist. */
  static Optional<Stat> stat(int folder, String name) throws IOException {
    try {
      return Optional.of(statx(folder, name, NOFOLLOW));
    } catch (NativeException e) {
      if (e.errno() == NativeException.ENOENT) {
        return Optional.empty();
      }
      throw e;
    }
  }

  static Stat stat(int descriptor) throws IOException {
    return statx(descriptor, "", NOFOLLOW | EMPTY_PATH);
  }

  private static Stat statx(int folder, String name, int flags) throws IOException {
    return NativeCall.of(
        "stat",
        call -> {
          MemorySegment to = call.allocate(256);
          call.checked(
              (int)
                  STATX.invokeExact(call.state(), folder, call.text(name), flags, STATX_BASIC, to));
          return new Stat(
              Short.toUnsignedInt(to.get(JAVA_SHORT, 28)),
              to.get(JAVA_INT, 20),
              to.get(JAVA_INT, 24),
              Integer.toUnsignedLong(to.get(JAVA_INT, 16)),
              to.get(JAVA_LONG, 32),
              (long) to.get(JAVA_INT, 136) << 32 | Integer.toUnsignedLong(to.get(JAVA_INT, 140)),
              to.get(JAVA_LONG, 40),
              to.get(JAVA_LONG, 112),
              to.get(JAVA_INT, 120));
        });
  }

  static void makeFolder(int folder, String name, int mode) throws IOException {
    NativeCall.of(
        "mkdir",
        call ->
            call.checked((int) MKDIRAT.invokeExact(call.state(), folder, call.text(name), mode)));
  }

  static void makeLink(String target, int folder, String name) throws IOException {
    NativeCall.of(
        "symlink",
        call ->
            call.checked(
                (int)
                    SYMLINKAT.invokeExact(
                        call.state(), call.text(target), folder, call.text(name))));
  }

  static void makeHardLink(int fromFolder, String from, int folder, String name)
      throws IOException {
    NativeCall.of(
        "link",
        call ->
            call.checked(
                (int)
                    LINKAT.invokeExact(
                        call.state(), fromFolder, call.text(from), folder, call.text(name), 0)));
  }

  /**
   * @param flags 0 or {@link #REMOVE_FOLDER}
   */
  static void unlink(int folder, String name, int flags) throws IOException {
    NativeCall.of(
        "unlink",
        call ->
            call.checked((int) UNLINKAT.invokeExact(call.state(), folder, call.text(name), flags)));
  }

  static String readLink(int folder, String name) throws IOException {
    return NativeCall.of(
        "readlink",
        call -> {
          MemorySegment to = call.allocate(MAX_PATH_LENGTH);
          long length =
              call.checked(
                  (long)
                      READLINKAT.invokeExact(
                          call.state(), folder, call.text(name), to, (long) MAX_PATH_LENGTH));
          return NativeCall.text(to, length);
        });
  }

  /** Changes the owner of a name without following symbolic links. */
  static void chown(int folder, String name, int uid, int gid) throws IOException {
    int flags = name.isEmpty() ? NOFOLLOW | EMPTY_PATH : NOFOLLOW;
    NativeCall.of(
        "chown",
        call ->
            call.checked(
                (int)
                    FCHOWNAT.invokeExact(call.state(), folder, call.text(name), uid, gid, flags)));
  }

  static void chmod(int descriptor, int mode) throws IOException {
    NativeCall.of(
        "chmod", call -> call.checked((int) FCHMOD.invokeExact(call.state(), descriptor, mode)));
  }

  /** Sets the modification time of a name without following symbolic links. */
  static void touch(int folder, String name, long seconds, int nanos) throws IOException {
    NativeCall.of(
        "utimens",
        call -> {
          MemorySegment times = call.allocate(32);
          for (int at = 0; at < 32; at += 16) {
            times.set(JAVA_LONG, at, seconds);
            times.set(JAVA_LONG, at + 8, nanos);
          }
          return call.checked(
              (int) UTIMENSAT.invokeExact(call.state(), folder, call.text(name), times, NOFOLLOW));
        });
  }

  /** Reads into {@code buffer} and returns the number of bytes; 0 at the end. */
  static int read(int descriptor, MemorySegment buffer) throws IOException {
    return NativeCall.of(
        "read",
        call ->
            (int)
                call.checked(
                    (long) READ.invokeExact(call.state(), descriptor, buffer, buffer.byteSize())));
  }

  static void write(int descriptor, MemorySegment bytes) throws IOException {
    for (long done = 0; done < bytes.byteSize(); ) {
      MemorySegment rest = bytes.asSlice(done);
      done +=
          NativeCall.of(
              "write",
              call ->
                  call.checked(
                      (long) WRITE.invokeExact(call.state(), descriptor, rest, rest.byteSize())));
    }
  }

  /** Returns the names in a folder, without {@code .} and {@code ..}, unsorted. */
  static List<String> list(int descriptor) throws IOException {
    return NativeCall.of(
        "readdir",
        call -> {
          List<String> names = new ArrayList<>();
          MemorySegment entries = call.allocate(LISTING);
          while (true) {
            long length =
                call.checked(
                    (long)
                        SYSCALL3.invokeExact(
                            call.state(), GETDENTS64, (long) descriptor, entries, (long) LISTING));
            if (length == 0) {
              return names;
            }
            // linux_dirent64: inode 8, offset 8, length 2, type 1, name
            for (long at = 0; at < length; ) {
              String name = entries.getString(at + 19, StandardCharsets.ISO_8859_1);
              if (!name.equals(".") && !name.equals("..")) {
                names.add(name);
              }
              at += Short.toUnsignedLong(entries.get(JAVA_SHORT, at + 16));
            }
          }
        });
  }
}
