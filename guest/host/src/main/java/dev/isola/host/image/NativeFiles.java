package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The system calls an image needs and Java does not have: names that are bytes in no particular
 * encoding, opening by descriptor without following any link, owners, set-user-id bits, extended
 * attributes. Linux on 64 bits.
 *
 * <p>A name is a string of which each char is one byte (ISO 8859-1).
 */
@SuppressWarnings("restricted")
final class NativeFiles {
  static final int RDONLY = 0;
  static final int WRONLY = 1;
  static final int CREATE = 0100 | 0200; // and it must be new
  static final int NONBLOCK = 04000;
  static final int PATH = 010000000;

  /** Not the same everywhere, as is the number of {@code getdents64}. */
  static final int DIRECTORY =
      System.getProperty("os.arch", "").equals("aarch64") ? 0x4000 : 0x10000;

  private static final long GETDENTS64 =
      System.getProperty("os.arch", "").equals("amd64") ? 217 : 61;

  static final int REMOVE_FOLDER = 0x200;

  private static final int CLOEXEC = 02000000;
  private static final int AT_FDCWD = -100;
  private static final int NOFOLLOW = 0x100;
  private static final int EMPTY_PATH = 0x1000;
  private static final long NO_MAGIC_LINKS = 2;
  private static final long NO_LINKS = 4;
  private static final long BENEATH = 8;
  private static final long OPENAT2 = 437;
  private static final int STATX_BASIC = 0x7ff;
  private static final int LOCK_EXCLUSIVE_NOW = 2 | 4;
  private static final int EXCHANGE = 2;
  private static final int LONGEST_PATH = 4096;
  private static final int LARGEST_ATTRIBUTE = 65536;
  private static final int LISTING = 65536;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_VALUE =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle SYSCALL4 =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("syscall"),
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG),
          ERRNO,
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle SYSCALL3 =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("syscall"),
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
          ERRNO,
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle CLOSE = handle("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle STATX =
      handle("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle MKDIRAT =
      handle("mkdirat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SYMLINKAT =
      handle("symlinkat", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS);
  private static final MethodHandle LINKAT =
      handle("linkat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle UNLINKAT =
      handle("unlinkat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle READLINKAT =
      handle("readlinkat", JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle FCHOWNAT =
      handle("fchownat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle FCHMOD = handle("fchmod", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle UTIMENSAT =
      handle("utimensat", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle READ = handle("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE =
      handle("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle FSETXATTR =
      handle("fsetxattr", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle FGETXATTR =
      handle("fgetxattr", JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle FLISTXATTR =
      handle("flistxattr", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle FLOCK = handle("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle SYNCFS = handle("syncfs", JAVA_INT, JAVA_INT);
  private static final MethodHandle GETEUID =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("geteuid"), FunctionDescriptor.of(JAVA_INT));

  private NativeFiles() {}

  /** What a file is, as {@code statx} tells. */
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

  private static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
  }

  /** One call: its memory, and the error it left. */
  private static final class Call implements AutoCloseable {
    private final String name;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment state = arena.allocate(STATE);

    Call(String name) {
      this.name = name;
    }

    MemorySegment text(String bytes) {
      return arena.allocateFrom(bytes, StandardCharsets.ISO_8859_1);
    }

    MemorySegment room(long bytes) {
      return arena.allocate(bytes, 8);
    }

    int errno() {
      return (int) ERRNO_VALUE.get(state, 0L);
    }

    int checked(int result) throws NativeException {
      return (int) checked((long) result);
    }

    long checked(long result) throws NativeException {
      if (result < 0) {
        throw new NativeException(name, errno());
      }
      return result;
    }

    @Override
    public void close() {
      arena.close();
    }
  }

  /** Carries out a call; nothing but the call itself can fail in there. */
  private interface Body<T> {
    T run(Call call) throws Throwable;
  }

  private static <T> T call(String name, Body<T> body) throws IOException {
    try (Call call = new Call(name)) {
      return body.run(call);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError(name, e);
    }
  }

  /** Opens a path of this machine, links and all: what the caller named. */
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
   * Opens {@code path} beneath a folder. A link anywhere in it, the last name included, is {@code
   * ELOOP}.
   */
  static int open(int folder, String path, int flags, int mode) throws IOException {
    return openat2(folder, path, flags, mode, NO_LINKS | BENEATH);
  }

  private static int openat2(int folder, String path, int flags, int mode, long resolve)
      throws IOException {
    return call(
        "open",
        call -> {
          MemorySegment how = call.room(24);
          how.set(JAVA_LONG, 0, (flags | CLOEXEC) & 0xffffffffL);
          how.set(JAVA_LONG, 8, (flags & CREATE) == CREATE ? mode : 0);
          how.set(JAVA_LONG, 16, resolve);
          return (int)
              call.checked(
                  (long)
                      SYSCALL4.invokeExact(
                          call.state, OPENAT2, (long) folder, call.text(path), how, 24L));
        });
  }

  static void close(int descriptor) {
    try (Call call = new Call("close")) {
      int ignored = (int) CLOSE.invokeExact(call.state, descriptor);
    } catch (Throwable e) {
      throw new LinkageError("close", e);
    }
  }

  /** Tells about a name in a folder, itself and not what it links to; empty when there is none. */
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
    return call(
        "stat",
        call -> {
          MemorySegment to = call.room(256);
          call.checked(
              (int) STATX.invokeExact(call.state, folder, call.text(name), flags, STATX_BASIC, to));
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
    call(
        "mkdir",
        call -> call.checked((int) MKDIRAT.invokeExact(call.state, folder, call.text(name), mode)));
  }

  static void makeLink(String target, int folder, String name) throws IOException {
    call(
        "symlink",
        call ->
            call.checked(
                (int)
                    SYMLINKAT.invokeExact(call.state, call.text(target), folder, call.text(name))));
  }

  static void makeHardLink(int fromFolder, String from, int folder, String name)
      throws IOException {
    call(
        "link",
        call ->
            call.checked(
                (int)
                    LINKAT.invokeExact(
                        call.state, fromFolder, call.text(from), folder, call.text(name), 0)));
  }

  /**
   * @param flags 0 or {@link #REMOVE_FOLDER}
   */
  static void unlink(int folder, String name, int flags) throws IOException {
    call(
        "unlink",
        call ->
            call.checked((int) UNLINKAT.invokeExact(call.state, folder, call.text(name), flags)));
  }

  static String readLink(int folder, String name) throws IOException {
    return call(
        "readlink",
        call -> {
          MemorySegment to = call.room(LONGEST_PATH);
          long length =
              call.checked(
                  (long)
                      READLINKAT.invokeExact(
                          call.state, folder, call.text(name), to, (long) LONGEST_PATH));
          return text(to, length);
        });
  }

  /** Sets the owner of a name itself, not of what it links to. */
  static void chown(int folder, String name, int uid, int gid) throws IOException {
    int flags = name.isEmpty() ? NOFOLLOW | EMPTY_PATH : NOFOLLOW;
    call(
        "chown",
        call ->
            call.checked(
                (int) FCHOWNAT.invokeExact(call.state, folder, call.text(name), uid, gid, flags)));
  }

  static void chmod(int descriptor, int mode) throws IOException {
    call("chmod", call -> call.checked((int) FCHMOD.invokeExact(call.state, descriptor, mode)));
  }

  /** Sets when a name itself was last changed. */
  static void touch(int folder, String name, long seconds, int nanos) throws IOException {
    call(
        "utimens",
        call -> {
          MemorySegment times = call.room(32);
          for (int at = 0; at < 32; at += 16) {
            times.set(JAVA_LONG, at, seconds);
            times.set(JAVA_LONG, at + 8, nanos);
          }
          return call.checked(
              (int) UTIMENSAT.invokeExact(call.state, folder, call.text(name), times, NOFOLLOW));
        });
  }

  /** Reads into {@code buffer} and returns how much; 0 at the end. */
  static int read(int descriptor, MemorySegment buffer) throws IOException {
    return call(
        "read",
        call ->
            (int)
                call.checked(
                    (long) READ.invokeExact(call.state, descriptor, buffer, buffer.byteSize())));
  }

  static void write(int descriptor, MemorySegment bytes) throws IOException {
    for (long done = 0; done < bytes.byteSize(); ) {
      MemorySegment rest = bytes.asSlice(done);
      done +=
          call(
              "write",
              call ->
                  call.checked(
                      (long) WRITE.invokeExact(call.state, descriptor, rest, rest.byteSize())));
    }
  }

  static void setAttribute(int descriptor, String name, byte[] value) throws IOException {
    call(
        "setxattr",
        call -> {
          MemorySegment bytes = call.room(Math.max(1, value.length));
          MemorySegment.copy(value, 0, bytes, JAVA_BYTE, 0, value.length);
          return call.checked(
              (int)
                  FSETXATTR.invokeExact(
                      call.state, descriptor, call.text(name), bytes, (long) value.length, 0));
        });
  }

  /** Returns the names of a file's extended attributes; none where there are none to be had. */
  static List<String> attributes(int descriptor) throws IOException {
    return call(
        "listxattr",
        call -> {
          MemorySegment to = call.room(LARGEST_ATTRIBUTE);
          long length =
              (long) FLISTXATTR.invokeExact(call.state, descriptor, to, (long) LARGEST_ATTRIBUTE);
          if (length < 0 && call.errno() == NativeException.ENOTSUP) {
            return List.<String>of();
          }
          String names = text(to, call.checked(length));
          return names.isEmpty() ? List.of() : List.of(names.split("\0"));
        });
  }

  static Optional<byte[]> attribute(int descriptor, String name) throws IOException {
    return call(
        "getxattr",
        call -> {
          MemorySegment to = call.room(LARGEST_ATTRIBUTE);
          long length =
              (long)
                  FGETXATTR.invokeExact(
                      call.state, descriptor, call.text(name), to, (long) LARGEST_ATTRIBUTE);
          if (length < 0 && call.errno() == NativeException.ENODATA) {
            return Optional.<byte[]>empty();
          }
          return Optional.of(to.asSlice(0, call.checked(length)).toArray(JAVA_BYTE));
        });
  }

  /** Returns the names in a folder, without {@code .} and {@code ..}, in no order. */
  static List<String> list(int descriptor) throws IOException {
    return call(
        "readdir",
        call -> {
          List<String> names = new ArrayList<>();
          MemorySegment entries = call.room(LISTING);
          while (true) {
            long length =
                call.checked(
                    (long)
                        SYSCALL3.invokeExact(
                            call.state, GETDENTS64, (long) descriptor, entries, (long) LISTING));
            if (length == 0) {
              return names;
            }
            // inode 8, offset 8, length 2, type 1, name
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

  /** Locks what is open, if nobody else has; the lock goes with the descriptor, or the process. */
  static boolean lock(int descriptor) throws IOException {
    try {
      call(
          "flock",
          call ->
              call.checked((int) FLOCK.invokeExact(call.state, descriptor, LOCK_EXCLUSIVE_NOW)));
      return true;
    } catch (NativeException e) {
      if (e.errno() == NativeException.EAGAIN) {
        return false;
      }
      throw e;
    }
  }

  /** Brings everything written to the file system of a descriptor to the disk. */
  static void sync(int descriptor) throws IOException {
    call("syncfs", call -> call.checked((int) SYNCFS.invokeExact(call.state, descriptor)));
  }

  /** Exchanges two names of one folder at once. */
  static void exchange(int folder, String a, String b) throws IOException {
    MethodHandle rename =
        handle("renameat2", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);
    call(
        "rename",
        call ->
            call.checked(
                (int)
                    rename.invokeExact(
                        call.state, folder, call.text(a), folder, call.text(b), EXCHANGE)));
  }

  static boolean isRoot() {
    try {
      return (int) GETEUID.invokeExact() == 0;
    } catch (Throwable e) {
      throw new LinkageError("geteuid", e);
    }
  }

  private static String text(MemorySegment bytes, long length) {
    return new String(bytes.asSlice(0, length).toArray(JAVA_BYTE), StandardCharsets.ISO_8859_1);
  }
}
