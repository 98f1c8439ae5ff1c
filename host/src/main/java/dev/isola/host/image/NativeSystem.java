package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.invoke.MethodHandle;

/** System calls that do not concern files of an image: locks, syncing, renaming and the user id. */
final class NativeSystem {
  private static final int LOCK_EXCLUSIVE_NOW = 2 | 4;
  private static final int EXCHANGE = 2;

  private static final MethodHandle FLOCK =
      NativeCall.handle("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle SYNCFS = NativeCall.handle("syncfs", JAVA_INT, JAVA_INT);
  private static final MethodHandle GETEUID = NativeCall.handle("geteuid", JAVA_INT);

  private NativeSystem() {}

  /**
   * Locks an open file unless another process has; returns whether it is locked now. Closing the
   * descriptor, or the end of the process, releases the lock.
   */
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

  /** Flushes the file system of a descriptor to the disk. */
  static void sync(int descriptor) throws IOException {
    NativeCall.of(
        "syncfs", call -> call.checked((int) SYNCFS.invokeExact(call.state(), descriptor)));
  }

  /** Atomically exchanges two names in a folder. */
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
