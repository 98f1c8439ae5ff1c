package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.invoke.MethodHandle;

/** Locks, the disk, and who we are: the system calls that are about no file in an image. */
final class NativeSystem {
  private static final int LOCK_EXCLUSIVE_NOW = 2 | 4;
  private static final int EXCHANGE = 2;

  private static final MethodHandle FLOCK =
      NativeCall.handle("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle SYNCFS = NativeCall.handle("syncfs", JAVA_INT, JAVA_INT);
  private static final MethodHandle GETEUID = NativeCall.handle("geteuid", JAVA_INT);

  private NativeSystem() {}

  /** Locks what is open, if nobody else has; the lock goes with the descriptor, or the process. */
  static boolean lock(int descriptor) throws IOException {
    try {
      NativeCall.of(
          "flock",
          call ->
              call.checked((int) FLOCK.invokeExact(call.state(), descriptor, LOCK_EXCLUSIVE_NOW)));
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
    NativeCall.of(
        "syncfs", call -> call.checked((int) SYNCFS.invokeExact(call.state(), descriptor)));
  }

  /** Exchanges two names of one folder at once. */
  static void exchange(int folder, String a, String b) throws IOException {
    MethodHandle rename =
        NativeCall.handle("renameat2", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);
    NativeCall.of(
        "rename",
        call ->
            call.checked(
                (int)
                    rename.invokeExact(
                        call.state(), folder, call.text(a), folder, call.text(b), EXCHANGE)));
  }

  static boolean isRoot() {
    try (NativeCall call = new NativeCall("geteuid")) {
      return (int) GETEUID.invokeExact(call.state()) == 0;
    } catch (Throwable e) {
      throw new LinkageError("geteuid", e);
    }
  }
}
